#include "userspace/capture/rings/owner_page.h"

#include <cerrno>

#include <sys/uio.h>

#include "userspace/base/privileged_helper.h"

namespace sojourn::capture {

std::optional<sj_ring_private> read_owner_page(const Arena& arena, std::uint64_t slot, pid_t pid) {
  sj_ring_private own{};
  const iovec here{.iov_base = &own, .iov_len = sizeof(own)};
  const iovec there{.iov_base = arena.address_of_private(slot), .iov_len = sizeof(own)};
  if (process_vm_readv(pid, &here, 1, &there, 1, 0) == sizeof(own)) return own;
  const auto* const helper = errno == EPERM ? base::PrivilegedHelper::of_this_process() : nullptr;
  if (helper == nullptr) return std::nullopt;
  base::Packer wanted;
  wanted.put(pid).put(there.iov_base);
  const auto answer = helper->ask(base::PrivilegedRequest::kOwnerPage, std::move(wanted));
  if (!answer || answer->bytes.size() != sizeof(own)) return std::nullopt;
  return base::Unpacker(answer->bytes).take<sj_ring_private>();
}

}  // namespace sojourn::capture
