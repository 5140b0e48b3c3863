/* The ticks by which the counters of odd CPUs are ahead, in the program and in the target that
 * imitate a machine with such counters: some tens of milliseconds, far more than scheduling takes.
 */
#pragma once

#define SJ_UNEVEN_TICKS 100000000
