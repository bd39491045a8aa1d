/* An allocator that counts and can fail request n: the fault loop of the tests.
 *
 *     for (long n = 0;; n++) {
 *         failing_allocator failing = {.fail_at = n};
 *         mw_allocator allocator = failing_allocator_of(&failing);
 *         ... do the thing; on success expect and stop when !failing.failed ...
 *         CHECK_INT(failing.live, 0);
 *     } */
#ifndef TESTS_SUPPORT_FAILING_H
#define TESTS_SUPPORT_FAILING_H

#include <millwright/status.h>
#include <stdbool.h>

typedef struct failing_allocator {
    long fail_at;   /* index of the request that returns NULL; negative = never */
    bool and_after; /* fail every later one too */
    long requests;  /* so far: allocations and growths */
    long live;      /* blocks not yet freed */
    bool failed;    /* a request was refused */
} failing_allocator;

mw_allocator failing_allocator_of(failing_allocator *failing);

#endif
