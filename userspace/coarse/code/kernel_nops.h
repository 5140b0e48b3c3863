// This kernel's treatment of nops under a probe, beyond that of every kernel. Trials find it out.
#pragma once

namespace sojourn::coarse {

struct KernelNops {
  bool emulates_long = false;  // nops of three to eight bytes, without five
  bool takes_five = false;     // a nop of five bytes costs no single step, and does no harm
  bool takes_ten = false;
};

}  // namespace sojourn::coarse
