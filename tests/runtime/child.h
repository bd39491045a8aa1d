/* What may end the process runs in one of its own. The parent must not have used the engine. */
#ifndef TESTS_RUNTIME_CHILD_H
#define TESTS_RUNTIME_CHILD_H

#include <millwright/millwright.h>

/* Runs the function in a forked process; its failed checks are printed, and become one of the parent.
 * return  the status that waitpid gave */
int child_run(void (*function)(void *user), void *user);
/* The same, and a check that it ended by itself without a failed check. */
void child_check(void (*function)(void *user), void *user);

/* The small classifier with Adam on one thread and its data, made in the child. */
typedef struct child_net {
    mw_dataset *data;
    mw_trainer *trainer;
} child_net;
child_net child_make(mw_error *err);
void child_free(child_net *net);

#endif
