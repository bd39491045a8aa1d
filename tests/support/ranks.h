/* Ranks as threads of one process, over a transport that can be slow, mix up what may be mixed up, and fall silent. */
#ifndef TESTS_SUPPORT_RANKS_H
#define TESTS_SUPPORT_RANKS_H

#include <millwright/communicator.h>
#include <stdbool.h>

enum { RANKS_MAX = 16 };

typedef struct ranks_network {
    int size;
    double latency;             /* seconds of each message */
    double bytes_per_second;    /* that a rank sends; 0 = any number */
    unsigned shuffle;           /* not 0: messages of different tags or ranks overtake each other, by this seed */
    int silent, silent_after;   /* if silent_after > 0, this rank sends nothing from that message on */
    int failing, failing_after; /* if failing_after > 0, sending fails on this rank from that message on */
} ranks_network;

/* A transport of one rank, which has nobody to talk to. */
mw_transport ranks_alone(void);

/* What each rank does. Checks are for the caller of ranks_run: threads write down what they saw. */
typedef void ranks_job(mw_communicator *communicator, int rank, void *user);

/* Runs `job` on all ranks and waits for them. */
void ranks_run(const ranks_network *network, ranks_job *job, void *user);

#endif
