#include "analysis/model/capture.h"

namespace sojourn::model {

std::string_view name(LossCause cause) {
  switch (cause) {
    case LossCause::kRingFull:
      return "ring full";
    case LossCause::kReserveRefused:
      return "reserve refused";
    case LossCause::kRecursionMissed:
      return "recursion missed";
    case LossCause::kFiltered:
      return "filtered";
    case LossCause::kNotArmed:
      return "not armed yet";
    case LossCause::kNoRing:
      return "no ring for the thread";
    case LossCause::kTargetGone:
      return "target gone";
    case LossCause::kWriterBehind:
      return "writer behind";
  }
  return "unknown";
}

}  // namespace sojourn::model
