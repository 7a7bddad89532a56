/* A library in place of ONNX Runtime's that misbehaves as -D says: when it is loaded, or when it is asked for its
 * interface. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void misbehave(void) {
#if defined ABORTS
    abort();
#elif defined LOOPS
    for (volatile long turn = 0;; turn++) {}
#elif defined EXITS
    exit(0);
#elif defined CHATTERS
    printf("no line end, ");
    printf("a line\n{\"protocol\":2,\"program\":\"other\"}\n\"Closed\"\n{\"Measured\":{}}\n");
    fflush(stdout);
    /* Past what the C library does with standard output. */
    if (write(1, "\"Closed\"\n{\"Refused\":{\"Failed\":\"no\"}}\n\377\376", 40) < 0) abort();
#endif
}

#ifdef WHEN_LOADED
__attribute__((constructor)) static void loaded(void) { misbehave(); }
#endif

const void *OrtGetApiBase(void) {
#ifndef WHEN_LOADED
    misbehave();
#endif
    return NULL;
}
