/* Several operations as one: the passes recognize and absorb (passes/rewrites.def), for tensors of fp32. */
#ifndef MW__MIL_JOIN_JOIN_H
#define MW__MIL_JOIN_JOIN_H

#include "graph/transform/clone/clone.h"
#include "passes/log.h"

struct mw__legality;

typedef struct mw__join_options {
    mw__rule_id pass; /* MW__RULE_recognize or MW__RULE_absorb */
    mw__pass_log *log;
    const struct mw__legality *legality;
    mw_tensor *const *roots; /* that are read from outside, beside the outputs */
    size_t root_count;
} mw__join_options;

/* Which row writes which operation of a function. */
typedef struct mw__join mw__join;

/* In `arena`; *out_any false where no row applies. */
mw_status mw__join_find(const mw__function *function, const mw__join_options *options, mw__arena *arena, mw__join **out,
                        bool *out_any, mw_error *err);
/* A mw__clone_rule of that function; user: the mw__join. */
mw__clone_rule mw__join_write;

/* The function with all that the pass joins, in a function of `to` of its name; NULL in *out: there is nothing. */
mw_status mw__join_function(const mw__function *function, const mw__join_options *options, mw_graph *to,
                            mw__function **out, mw_error *err);

#endif
