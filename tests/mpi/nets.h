/* Networks that ranks train together, and batches for them: digits, and a text. */
#ifndef TESTS_MPI_NETS_H
#define TESTS_MPI_NETS_H

#include <millwright/millwright.h>

typedef enum net_kind { NET_MLP, NET_CNN, NET_CHARACTERS, NET_KINDS } net_kind;

typedef struct net {
    net_kind kind;
    int64_t batch;
    int accumulate;
    mw_device device;
    mw_communicator *ranks;
    uint64_t seed;
    bool shards; /* each rank has a part of the optimizer's states */
} net;

/* Options for the network, whose graph goes with mw_graph_destroy once the trainer is made. */
mw_trainer_options net_options(const net *n, mw_graph *graph);
mw_trainer *net_trainer(const net *n, mw_error *err);

const char *net_name(net_kind kind);
/* The parameter nearest to the examples, and how many elements it has. */
const char *net_first_parameter(net_kind kind, size_t *out_count);

typedef struct net_batch net_batch;
net_batch *net_batch_create(const net *n);
void net_batch_destroy(net_batch *b);
/* The examples from `first` on, the same for all who ask. */
const mw_batch *net_batch_fill(net_batch *b, int64_t first);
/* Spoils what was filled: value number `index` of what is fed as numbers. False for a text, which has none. */
bool net_batch_spoil(net_batch *b, size_t index, float value);

#endif
