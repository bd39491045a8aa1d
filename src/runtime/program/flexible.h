/* Programs whose extents are settled after they are compiled: by the shapes of inputs, or by what small integer inputs
 * hold. The user has one mw_program; behind it stand plans, programs of one shape each, made on demand and kept. */
#ifndef MW__RUNTIME_PROGRAM_FLEXIBLE_H
#define MW__RUNTIME_PROGRAM_FLEXIBLE_H

#include "graph/transform/extents/specialize.h"
#include "runtime/program/program_object.h"

enum { MW__PLANS_DEFAULT = 8, MW__PLANS_MAX = 1024, MW__HELD_SIZE = 8 * 64 };

/* An input of the function, by its place there. */
typedef struct mw__flexible_input {
    const mw_tensor *value; /* in the source */
    mw_shape shape;         /* that is chosen; with `?` until it is */
    bool open;              /* declared with `?` */
    bool deciding;          /* its values decide extents: it is no port of a plan, but a constant in it */
    bool written;
    void *held; /* of one that decides: its values */
} mw__flexible_input;

typedef struct mw__flexible_plan {
    mw_program *program;
    mw_shape *shapes;      /* by input */
    unsigned char *values; /* of the inputs that decide, MW__HELD_SIZE each */
    uint64_t used;         /* the clock when it was taken last */
} mw__flexible_plan;

/* Memory of a port that has one shape, for all plans. */
typedef struct mw__flexible_buffer {
    const char *name;
    bool is_output, filled;
    mw__device_buffer buffer;
} mw__flexible_buffer;

typedef struct mw__flexible_share {
    const char *output, *input;
} mw__flexible_share;

typedef struct mw__flexible {
    const mw_allocator *allocator;
    mw_program *owner; /* the user's */
    mw_graph *source;  /* its main is the function */
    const mw__function *function;
    mw_compile_options options;
    mw__target target;
    mw__flexible_input *inputs;
    size_t input_count, deciding_count;
    mw__flexible_plan *plans;
    size_t plan_count, plan_capacity, plan_max;
    size_t made;               /* plans so far */
    mw__flexible_plan current; /* a copy of the plan that was taken last; program NULL = none */
    bool moved;                /* shapes were chosen since */
    bool ran;
    uint64_t clock;
    mw__flexible_buffer *buffers;
    size_t buffer_count, buffer_capacity;
    mw_error bind_error;
    bool unsuitable;      /* the last plan failed as its shapes do not fit, before it was compiled */
    const char *why_open; /* why the default shapes were none; NULL = they suited, or there are none */
    mw__flexible_share *shares;
    size_t share_count, share_capacity;
} mw__flexible;

/* The program of a function that wants specializing. What can be compiled now is: with default shapes, or if no input
 * is open. If default shapes do not fit each other there is no plan until others are chosen. `function` may go
 * afterwards. */
mw_program *mw__flexible_create(const mw__function *function, const mw_compile_options *options,
                                const mw__target *target, mw_error *err);
/* NULL is fine. */
void mw__flexible_destroy(mw__flexible *flexible);

/* The plan for the shapes that are chosen; made if need be.
 *  errors  MW_ERROR_STATE if a shape or a value is still to come */
mw_status mw__flexible_resolve(mw__flexible *flexible, mw_program **out, mw_error *err);
mw_status mw__flexible_run(mw__flexible *flexible, mw_error *err);
mw_status mw__flexible_share_ports(mw__flexible *flexible, const char *output, const char *input, mw_error *err);
/* The input that holds its values here, NULL if the port is one of the plans. */
mw__flexible_input *mw__flexible_held(const mw__flexible *flexible, const char *port);

/* Its values are there, and nothing of older ones behind them. */
void mw__flexible_note_written(mw__flexible_input *input);

/* flexible_plan.c: the plan for what is chosen, from those kept or made now; NULL in *out if an input that decides has
 * not been written. It is not current yet. */
mw_status mw__flexible_find(mw__flexible *flexible, const mw__flexible_plan **out, mw_error *err);
/* Makes it current, with what the inputs hold; the one that was used least recently goes if there are too many. */
mw_status mw__flexible_enter(mw__flexible *flexible, const mw__flexible_plan *plan, mw_error *err);
/* These inputs decide, too: plans that do not say what they hold go. */
mw_status mw__flexible_decide(mw__flexible *flexible, const mw_tensor *const *deciding, size_t count, mw_error *err);
void mw__flexible_drop_plans(mw__flexible *flexible);

#endif
