// The subcommands that need a live machine: they look at processes, or attach to them.
#pragma once

#include "userspace/cli/command.h"

namespace sojourn::cli {

Action define_ab(Arguments& arguments);
Action define_list(Arguments& arguments);
Action define_ctl(Arguments& arguments);
Action define_doctor(Arguments& arguments);
Action define_host(Arguments& arguments);
Action define_record(Arguments& arguments);
Action define_live(Arguments& arguments);
Action define_serve(Arguments& arguments);

}  // namespace sojourn::cli
