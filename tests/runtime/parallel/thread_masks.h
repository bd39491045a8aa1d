/* Which signals the threads of this process block. */
#ifndef TESTS_RUNTIME_PARALLEL_THREAD_MASKS_H
#define TESTS_RUNTIME_PARALLEL_THREAD_MASKS_H

/* Of all threads but the first one, those that block what is meant for the program, and no fault of their own. */
int masks_count(void);

#endif
