// A wall clock that jumps: an hour ahead and a day back, in turns, five times a second. The monotonic clock stays as it is.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <time.h>

typedef int (*reads)(clockid_t, struct timespec *);

int clock_gettime(clockid_t clock, struct timespec *to) {
    static reads really;
    if (!really)
        really = (reads)dlsym(RTLD_NEXT, "clock_gettime");
    int done = really(clock, to);
    if (clock == CLOCK_REALTIME && done == 0)
        to->tv_sec += to->tv_nsec / 200000000 % 2 ? 3600 : -86400;
    return done;
}
