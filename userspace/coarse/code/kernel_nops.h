// How this kernel treats nops under a probe, beyond what every kernel does. Found out by trials.
#pragma once

namespace sojourn::coarse {

struct KernelNops {
  bool emulates_long = false;  // those of three to eight bytes, without five
  bool takes_five = false;     // that of five bytes costs no single step, and harms nobody
  bool takes_ten = false;
};

}  // namespace sojourn::coarse
