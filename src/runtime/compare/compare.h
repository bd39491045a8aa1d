/* Comparisons from inside: what their files share, what a trainer needs for one of its step, and what the library
 * beside the core needs, which shows them to users and measures ranges in the same way. */
#ifndef MW__RUNTIME_COMPARE_COMPARE_H
#define MW__RUNTIME_COMPARE_COMPARE_H

#include "base/visible.h"
#include "graph/ir/names.h"
#include "graph/transform/clone/clone.h"
#include "runtime/program/program_object.h"

#include <millwright/compare.h>

/* What an input was fed, for a file. */
typedef struct mw__compared_input {
    const char *name;
    mw_dtype dtype; /* F32 or I32 */
    mw_shape shape;
    void *data;
} mw__compared_input;

struct mw_comparison {
    const mw_allocator *allocator;
    mw__arena arena; /* all below */
    mw_compared *items;
    size_t count;
    mw__compared_input *inputs;
    size_t input_count;
    const char *where[2];
    size_t changed[2];
    bool accumulated_only;
};

/* ---- compare.c ---- */

/* Fills the inputs of both programs of one graph; the second may be NULL. */
typedef mw_status mw__compare_fill(void *user, mw_program *reference, mw_program *device, mw_error *err);

typedef struct mw__compare_request {
    const mw_graph *graph; /* its main is compared */
    const mw_compare_options *options;
    mw__compare_fill *fill;
    void *user;
} mw__compare_request;

/* As mw_comparison_create, for a graph that need not be published. */
MW__SIBLING mw_comparison *mw__compare_graph(const mw__compare_request *request, mw_error *err);
/* `call` is the function in messages. NULL is fine. */
MW__SIBLING void mw__comparison_destroy(mw_comparison *comparison, const char *call);
/* The first result whose local (or accumulated) difference is beyond its tolerance; NULL if none is. */
MW__SIBLING const mw_compared *mw__comparison_first(const mw_comparison *comparison, bool accumulated);
/* What both sides and ranges need of main: an output, and inputs whose extents are known. */
MW__SIBLING mw_status mw__compare_check(const mw_graph *graph, mw_error *err);
/* Options for a program that is written to, with the memory of nobody else. */
MW__SIBLING mw_compile_options mw__compare_side(const mw_compile_options *asked);
/* The first parameter that an operation reads, or NULL. */
MW__SIBLING const char *mw__compare_parameter(const mw__op *op);
/* MW_ERROR_ARGUMENT for zeroed options and bad tolerances. */
MW__SIBLING mw_status mw__compare_check_options(const mw_compare_options *options, mw_error *err);

/* ---- compare_inputs.c ---- */

/* Writes the inputs of `from` that `to` has, too, into it; NULL has none. */
MW__SIBLING mw_status mw__compare_copy_inputs(mw_program *from, mw_program *to, mw_error *err);
/* Remembers what the inputs hold that are no parameters. */
mw_status mw__compare_keep_inputs(mw_comparison *comparison, mw_program *program, mw_error *err);

/* ---- compare_graph.c ---- */

/* A value that is looked at. */
typedef struct mw__compare_value {
    const mw__op *op; /* of the graph that is compared; NULL for an input of it */
    const mw_tensor *value;
    const char *port; /* of the program that shows it; NULL for a constant */
} mw__compare_value;

/* How the copy is made that shows values. */
typedef struct mw__compare_form {
    mw__clone_rule *rule;   /* or NULL */
    mw__clone_dtype *dtype; /* or NULL; of a value of the copy */
} mw__compare_form;

/* A copy of the function in which all tensors are outputs that its operations give, as far as its own outputs and the
 * states that it assigns need them; they are listed in the order of the operations. Freed with mw__graph_free.
 * form   NULL: a copy that changes nothing; else inputs and constants are listed, too
 * arena  of the list; the copy has its allocator */
MW__SIBLING mw_graph *mw__compare_show(const mw__function *function, const mw__compare_form *form, mw__arena *arena,
                                       mw__compare_value **out_values, size_t *out_count, mw_error *err);

/* A program of one operation: its input "in0" stands for inputs[0], its output "out0" for result 0. */
typedef struct mw__compare_alone {
    mw_graph *graph;
    const mw_tensor **inputs; /* in the arena of the graph */
    size_t input_count, input_capacity;
} mw__compare_alone;
/* The graph is freed with mw__graph_free, also after a failure. */
mw_status mw__compare_isolate(const mw__op *op, const mw_allocator *allocator, mw__compare_alone *out, mw_error *err);

/* ---- compare_local.c ---- */

/* What is known while operations are compared. */
typedef struct mw__compare_run {
    const mw__compare_request *request;
    mw_compile_options sides[2];
    mw__target targets[2];
    mw_graph *shown;
    mw_program *programs[2];   /* of it */
    mw__compare_value *values; /* an item of the comparison each */
    mw_comparison *comparison;
} mw__compare_run;

/* Fills the local differences of all results. Where an operation cannot be compared alone, `skipped` says why. */
mw_status mw__compare_locally(const mw__compare_run *run, mw_error *err);

/* ---- difference.c ---- */

/* `exact`: integers and truth values. */
mw_difference mw__difference(const double *a, const double *b, size_t count, bool exact, double relative,
                             double absolute);
/* That of two ports of one shape. */
mw_status mw__difference_of_ports(mw_program *a, mw_program *b, const char *port, mw_dtype declared,
                                  const mw_compare_options *options, mw_difference *out, mw_error *err);
/* A port's elements, freed with mw__free of its program's allocator; NULL on failure. */
MW__SIBLING double *mw__compare_read(mw_program *program, const char *port, size_t *out_count, mw_error *err);

#endif
