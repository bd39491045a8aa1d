/* What the tests of processes train in a child. */
#ifndef TESTS_RUNTIME_FIT_CHILD_NET_H
#define TESTS_RUNTIME_FIT_CHILD_NET_H

#include "support/child.h"
#include <millwright/millwright.h>

/* The small classifier with Adam on one thread and its data, made in the child. */
typedef struct child_net {
    mw_dataset *data;
    mw_trainer *trainer;
} child_net;
child_net child_make(mw_error *err);
void child_free(child_net *net);

#endif
