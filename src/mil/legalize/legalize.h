/* What a device accepts: making a program legal, and checking one. */
#ifndef MW__MIL_LEGALIZE_LEGALIZE_H
#define MW__MIL_LEGALIZE_LEGALIZE_H

#include "passes/log.h"
#include "rules/legality.h"

/* How to make a program legal. */
typedef struct mw__legalize_options {
    const mw__device_traits *device;
    mw__pass_log *log;                   /* or NULL */
    bool strict;                         /* refuse constants that fp16 does not hold */
    bool unchecked;                      /* do not hold what was made to the rows of rules */
    struct mw__narrowing **out_narrowed; /* receives the list of those that were replaced (narrow.h); or NULL */
} mw__legalize_options;

/* Copies `from` (function main) into the fresh graph `to` as a program that the device accepts. Where its ports are
 * fp16 every floating-point tensor becomes fp16, integer inputs become fp16 ports, outputs that are inputs, constants
 * or repeated get an identity form. A constant that would become infinite in fp16, or a scalar that would become 0, is
 * replaced by the rules of narrow.h, or refused by name (MW_ERROR_NUMERIC) if `strict`; integers that fp16 does not
 * have always are. Other rules are rows of rules, those of
 * every chip, and are refused naming operation, rule and source. */
mw_status mw__mil_legalize_with(const mw_graph *from, mw_graph *to, const mw__legalize_options *options, mw_error *err);
/* *out: that would be the same program. It was built by constructors, for a device without a type or a rule of its own,
 * every operation is needed and keeps its rule, every output is a result with a name of its own. */
mw_status mw__mil_is_in_form(const mw_graph *graph, const mw__device_traits *device, bool *out, mw_error *err);
/* mw__mil_legalize_with, with constants replaced and no list. */
mw_status mw__mil_legalize(const mw_graph *from, mw_graph *to, const mw__device_traits *device, mw_error *err);

/* The rows alone, for a program that came as text; for every chip, or for the one that is named. */
mw_status mw__mil_check_legal_for(const mw_graph *graph, const mw__legality *legality, mw_error *err);
mw_status mw__mil_check_legal(const mw_graph *graph, const mw__device_traits *device, mw_error *err);

#endif
