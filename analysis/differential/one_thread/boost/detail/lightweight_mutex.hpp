// In the place of Boost's header of this name, where the C++ library has no std::mutex as there are
// no threads (WebAssembly): nothing is locked.
#pragma once

namespace boost::detail {

class lightweight_mutex {
 public:
  class scoped_lock {
   public:
    explicit scoped_lock(lightweight_mutex&) {}
  };
};

}  // namespace boost::detail
