#include "userspace/capture/rings/owner_page.h"

#include <sys/uio.h>

namespace sojourn::capture {

std::optional<sj_ring_private> read_owner_page(const Arena& arena, std::uint64_t slot, pid_t pid) {
  sj_ring_private own{};
  const iovec here{.iov_base = &own, .iov_len = sizeof(own)};
  const iovec there{.iov_base = arena.address_of_private(slot), .iov_len = sizeof(own)};
  if (process_vm_readv(pid, &here, 1, &there, 1, 0) != sizeof(own)) return std::nullopt;
  return own;
}

}  // namespace sojourn::capture
