/* Batches into ports: what a step, an evaluation and a prediction do first. */
#ifndef MW__RUNTIME_PROGRAM_FEED_H
#define MW__RUNTIME_PROGRAM_FEED_H

#include "base/visible.h"
#include "graph/ir/lookups.h"
#include "runtime/program/program_object.h"

#include <millwright/dataset.h>

/* A port that the batch fills. */
typedef struct mw__feed_port {
    const char *name; /* of the program */
    void *data;
    mw__port_rule rule;  /* what may enter; a batch is finite */
    mw__lookup *lookups; /* the tables that its values look into; NULL = none, `rule` has it, or nobody asked */
    size_t count, bytes;
    int64_t rows;  /* first extent, 1 for a scalar */
    size_t last;   /* index of the feed that served it last: tried first */
    bool optional; /* a range without a feed for it gets.. */
    double standard;
} mw__feed_port;

typedef struct mw__feeder {
    mw__feed_port *ports;
    size_t count;
} mw__feeder;

/* Collects the input ports of `program` that are inputs (not parameters) of `graph`, except those for which `skip`
 * returns true. The memory is the program's arena's. */
MW__SIBLING mw_status mw__feeder_init(mw__feeder *feeder, mw_program *program, const mw_graph *graph,
                                      bool (*skip)(void *user, const char *name), void *user, mw_error *err);

/* Whether the batch has a feed for every port, of its size. */
bool mw__feeder_fits(const mw__feeder *feeder, const mw_batch *batch);

/* From now on what a batch looks up must be there: for ports whose values go to a gather of `graph`, and for which its
 * constructors have no rule. What trains, evaluates and predicts asks for it. */
mw_status mw__feeder_find_tables(mw__feeder *feeder, mw_program *program, const mw_graph *graph, mw_error *err);

/* Converts the feeds of the batch into the ports; feeds that no port wants are ignored.
 *  step       for messages; 0 = not a step
 *  out_bytes  is increased by what was written
 *  errors     MW_ERROR_ARGUMENT for a missing feed, or an index beyond the table that it looks into; MW_ERROR_SHAPE for
 *             a wrong count; those of mw__values_check, naming feed, element and example */
MW__SIBLING mw_status mw__feeder_feed(mw__feeder *feeder, const mw_batch *batch, int64_t step, uint64_t *out_bytes,
                                      mw_error *err);

/* Examples of a batch, of which there may be any number: `take` of them from `first` on, for ports of `room` examples.
 */
typedef struct mw__feed_range {
    int64_t first, take, room;
} mw__feed_range;

/* The same for these; the rest of the room is filled with copies of the last one.
 *  errors  as mw__feeder_feed */
mw_status mw__feeder_feed_range(mw__feeder *feeder, const mw_batch *batch, const mw__feed_range *range, mw_error *err);

#endif
