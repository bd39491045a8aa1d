/* What the files of the compiler share: a planned function, and the same with the bindings of one operation. */
#ifndef MW__ENGINE_ENGINE_H
#define MW__ENGINE_ENGINE_H

#include "engine/plan.h"
#include "engine/widen.h"

#define MW__LANES_MAX 64
#define MW__NO_BUFFER UINT32_MAX

typedef enum mw__buffer_kind {
    MW__BUFFER_LOCAL,    /* placed by memory.c when the operation is encoded */
    MW__BUFFER_CONSTANT, /* `data` */
    MW__BUFFER_INPUT,    /* what is bound to input `port` */
    MW__BUFFER_OUTPUT    /* what is bound to output `port` */
} mw__buffer_kind;

typedef struct mw__buffer {
    mw__buffer_kind kind;
    size_t size;
    const void *data;
    size_t port;
    const mw_tensor *value; /* whose memory it is first; NULL = a temporary */
    const mw__step *maker;  /* what wrote it last as operations were planned; NULL = nothing */
} mw__buffer;

/* A function as steps over buffers; immutable, shared by all its operations. Steps stand in the order of the text. */
typedef struct mw__plan {
    mw__buffer *buffers;
    size_t buffer_count;
    const mw__step **steps;
    size_t step_count;
    int lanes;
} mw__plan;

typedef struct mw__port_info {
    const char *name;
    size_t size;      /* bytes that the tensor takes */
    size_t alignment; /* of an element */
    uint32_t buffer;
} mw__port_info;

/* A compiled function. */
typedef struct mw__program {
    const char *name;
    const char *summary;
    mw__port_info *inputs, *outputs;
    size_t input_count, output_count;
    const mw__port_info **inputs_by_name, **outputs_by_name; /* sorted */
    mw__plan plan;
} mw__program;

/* The port of that name among `count` that are sorted; NULL if there is none. */
const mw__port_info *mw__port_find(const mw__port_info *const *by_name, size_t count, const char *name);

/* Plans `function`; everything that stays is in `arena`. */
typedef struct mw__plan_request {
    const mw__function *function;
    mw__arena *arena;
    mw__rounding rounding; /* of the function's values */
    int lanes;
} mw__plan_request;
mw_status mw__plan_function(const mw__plan_request *request, mw__program *program, mw_error *err);

/* A step that copies `size` bytes, split as `like` (may be NULL) splits its memory; NULL after a failed allocation. */
mw__step *mw__copy_step(mw__arena *arena, uint32_t from, uint32_t to, size_t size, const mw__step *like,
                        const mw__step_operand *like_operand, mw_error *err);

/* ---- encode: a plan with bindings, on its way to a schedule ---- */

/* An output that is bound to exactly the memory of an input. */
typedef struct mw__alias {
    uint32_t output, input; /* buffers */
} mw__alias;

typedef struct mw__layout {
    mw__arena *arena; /* dies with the encode call */
    mw__arena *keep;  /* lives as long as the schedule: what plans are shown from, and steps (copies) */
    int lanes;
    mw__buffer *buffers; /* the plan's, then temporaries */
    size_t buffer_count;
    const mw__alias *aliases; /* sorted by output */
    size_t alias_count;
    const mw__step **steps; /* after mw__order_steps in the order of execution */
    size_t step_count;
    uint32_t *memory;   /* by buffer: buffers of one number share memory (aliases; after memory.c also in place) */
    uint32_t *phase;    /* by step */
    size_t phase_count; /* phases are separated by barriers */
    size_t *offset;     /* by buffer: LOCAL ones in the operation's memory */
    size_t size;        /* of that memory */
} mw__layout;

/* First unit of `lane`: lanes take contiguous ranges that begin at multiples of the grain. */
int64_t mw__lane_begin(const mw__step *step, int lane, int lanes);
/* True if no two different lanes touch a common byte, one as `a` of `a_step`, the other as `b` of `b_step`. */
bool mw__lanes_apart(int lanes, const mw__step *a_step, const mw__step_operand *a, const mw__step *b_step,
                     const mw__step_operand *b);
/* True if `step` may write its operand `write` over the memory of the buffer `read`. */
bool mw__step_in_place(const mw__step *step, uint32_t read, uint32_t write);

/* order.c: an order in which every aliased input is read before its output is written; adds temporaries and copies
 * where there is none. */
mw_status mw__order_steps(mw__layout *layout, mw_error *err);
/* schedule.c: cuts the order into phases. */
mw_status mw__cut_phases(mw__layout *layout, mw_error *err);
/* memory.c: places the local buffers. */
mw_status mw__place_buffers(mw__layout *layout, mw_error *err);

#endif
