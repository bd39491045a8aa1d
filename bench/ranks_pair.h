/* Two ranks as two processes, over memory that they share, with a latency and a rate: in one process they would share
 * the thread on which the engine runs what is not waited for. */
#ifndef BENCH_RANKS_PAIR_H
#define BENCH_RANKS_PAIR_H

#include <millwright/communicator.h>

typedef struct pair_network {
    double latency, bytes_per_second; /* 0 = any number */
} pair_network;

/* What each rank does; rank 0 is this process, which `result` is for: memory that both see. */
typedef void pair_job(mw_communicator *communicator, int rank, void *result);

/* Runs `job` on both; false if the other process failed. */
bool pair_run(const pair_network *network, pair_job *job, void *result);

#endif
