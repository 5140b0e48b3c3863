// A temporary file that no other program can open, and that goes away with its descriptor. It lies
// in $TMPDIR, else in /tmp.
#pragma once

#include <cstdint>
#include <span>

#include "analysis/base/result.h"
#include "userspace/base/fd.h"

namespace sojourn::files {

Result<base::Fd> nameless_file();

Result<void> append(const base::Fd& nameless, std::span<const std::uint8_t> bytes);

}  // namespace sojourn::files
