/* Programs as the trainer sees them: compiled with some ports bound to a state set. */
#ifndef MW__RUNTIME_PROGRAM_PROGRAM_OBJECT_H
#define MW__RUNTIME_PROGRAM_PROGRAM_OBJECT_H

#include "base/memory/guard.h"
#include "base/memory/live.h"
#include "base/visible.h"
#include "graph/ir/device_traits.h"
#include "graph/values/values.h"
#include "passes/log.h"
#include "rules/arithmetic.h"
#include "rules/chips.h"
#include "runtime/dispatch/dispatch.h"
#include "runtime/program/parts.h"
#include "runtime/program/program_folder.h"
#include "runtime/state/owner.h"
#include "runtime/weights/adapter.h"

#include <millwright/program.h>

/* The status to return after a callee that returns NULL failed: its error's, or `otherwise` if there is no error
 * record. */
static inline mw_status mw__status_or(const mw_error *err, mw_status otherwise)
{
    return mw__failed(err) ? err->status : otherwise;
}

/* Where compile options lead: filled by mw__target_resolve. */
typedef struct mw__target {
    mw__symbols symbols;
    const mw__device_traits *device;
    uint64_t threads; /* 0 = the library's default */
    bool flush_subnormals, exact_convolution;
    const mw__chip_row *chip;
    char profile[MW__ARITHMETIC_TEXT]; /* of the ANE model */
    mw__arithmetic arithmetic;         /* which that is */
    char cache_folder[1024];           /* "" = none */
    mw__rule_set off;                  /* passes and rules that are left out */
} mw__target;

/* "engine", "espresso" or what stands for another library; static. */
const char *mw__provider_name(const mw__symbols *symbols);

struct mw__placements;
/* Of a program that goes; NULL is fine. */
void mw__placements_free(struct mw__placements *placements);

/* Checks the options and loads the library behind e5rt.
 *  errors  MW_ERROR_ARGUMENT for zeroed options or bad fields, MW_ERROR_UNSUPPORTED for a device the provider lacks */
MW__SIBLING mw_status mw__target_resolve(const mw_compile_options *options, mw__target *out, mw_error *err);
/* "engine, CPU, fp32, 2 threads, OpenBLAS": what runs `dispatch` (NULL = none yet), into the arena. */
const char *mw__target_describe(const mw__target *target, const mw__dispatch *dispatch, mw__arena *arena,
                                mw_error *err);

/* Fills *out with the buffer that a port is to be bound to, which outlives the program; false = one of its own. */
typedef bool mw__program_binder(void *user, const mw_port *port, mw__device_buffer *out);

typedef struct mw__program_request {
    const mw_graph *graph;
    const mw_compile_options *options;
    const mw__target *target;
    mw__program_binder *bind; /* or NULL */
    void *user;
    mw__pass_log *log;      /* of the passes; NULL = one of its own, as the options say */
    bool watched;           /* if it is cut, its calls tell when they are done (dispatch_watch.c) */
    size_t calls_max;       /* over 1: it may be cut into as many functions (graph/transform/segment/segment.h) */
    bool cut_automatically; /* only if that is worth it */
    size_t held_times;      /* how often each operation of a program that is cut will be there, .. */
    size_t held, held_max;  /* .. beside those that are; a process holds held_max, 0 = any number */
} mw__program_request;

/* What a compilation with these options leaves out, and who hears of it; freed with mw__pass_log_deinit. */
void mw__program_log_init(mw__pass_log *log, const mw_compile_options *options, const mw__target *target);

/* An empty one, among the live objects. */
mw_program *mw__program_make(const mw_allocator *allocator, mw_error *err);
/* Legalizes, writes, compiles and binds. Parameters without a binding are not filled. */
mw_program *mw__program_create(const mw__program_request *request, mw_error *err);
/* For the owner of a program that is held. NULL is fine. */
void mw__program_destroy(mw_program *program);

/* An output of a classifier (runtime/evaluate/classes.c). */
typedef struct mw__class_port {
    const char *name;
    bool is_label;    /* else its probabilities */
    const mw__op *op; /* while the labels are taken */
    mw_classes classes;
} mw__class_port;

/* A parameter, or a state that nothing writes. */
typedef struct mw__program_weight {
    const char *name;
    bool is_parameter;
} mw__program_weight;

struct mw_program {
    const mw_allocator *allocator;
    mw__guard guard;
    struct mw__flexible *flexible; /* not NULL: its plans are run (runtime/program/flexible.h), and of the rest there
                                    * are ports, their names and where */
    mw__arena arena;               /* names, text of where */
    mw__dispatch *dispatch;
    mw_port *ports;         /* as the user sees them: inputs first, in the order of the dispatch's */
    mw__port_rule *rules;   /* what each takes */
    mw__port_place *places; /* where each is in the dispatch */
    bool staged;            /* some place is */
    size_t port_count, input_count;
    size_t hidden_count; /* the last of them: next values of states, which the user sees as the states */
    mw__map port_names;  /* name -> its element of ports */
    mw__class_port *class_ports;
    size_t class_port_count;
    mw__program_weight *weights;
    size_t weight_count;
    mw__adapter_numbers adapter;
    mw__state_owner *state_lender; /* of options.share.trainer */
    mw__family_entry in_family;
    mw_program *lender; /* options.share.program: whose memory some weights are */
    atomic_int users;   /* itself, and those that it lends memory to */
    mw_warning *warnings;
    size_t warning_count;
    char *mil;
    const char *where;
    const mw__device_traits *device; /* as the target says, with the next two */
    bool flush_subnormals;
    const mw__chip_row *chip;
    const char *provider;
    _Atomic(struct mw__placements *) placements; /* made when they are first asked for */
    bool held;                                   /* by a trainer: mw_program_destroy refuses it */
    mw__program_folder folder;                   /* to be removed at destroy, if not empty */
    struct mw__program_segments *segments;       /* the functions it was cut into; or NULL */
};

/* Around a public call; a NULL program passes.
 *  errors  MW_ERROR_STATE if the program is destroyed, or in use (base/memory/guard.h) */
mw_status mw__program_enter(mw__entry *out, mw_program *program, const char *call, mw_error *err);
/* `status`; MW_ERROR_STATE if the program was destroyed meanwhile, which frees it. */
mw_status mw__program_leave(const mw__entry *entry, mw_status status, mw_error *err);

/* Copies the labels of the outputs of a function that are results of classify. */
mw_status mw__program_take_classes(mw_program *program, const mw__function *function, mw_error *err);

/* Remembers what can be exchanged: the weights of the function it was compiled from, and the numbers of its adapters.
 */
mw_status mw__program_take_weights(mw_program *program, const mw__function *function, mw_error *err);

bool mw__is_weight(const mw_tensor *input);
/* NULL if it has none of that name. */
const mw__program_weight *mw__program_weight_find(const mw_program *program, const char *name);

/* ---- options.share.program (runtime/program/program_lend.c) ---- */

/* NULL is fine.
 *  errors  MW_ERROR_STATE if it is destroyed, MW_ERROR_UNSUPPORTED if its memory cannot be that of another program */
mw_status mw__program_check_lender(const mw_program *lender, const mw__target *target, mw_error *err);

typedef struct mw__borrowing {
    const mw_program *lender;
    const mw_graph *graph; /* that is compiled */
} mw__borrowing;

/* An mw__program_binder: a weight of both is the lender's memory. */
bool mw__borrow(void *user, const mw_port *port, mw__device_buffer *out);
/* Keeps the memory alive.
 *  errors  MW_ERROR_ARGUMENT if nothing is borrowed */
mw_status mw__program_borrow(mw_program *program, mw_program *lender, mw_error *err);
/* The same with options.share.trainer: whether its owner can lend to a program of this graph, which weights it lends,
 * and keeping it alive.
 *  errors  MW_ERROR_SHAPE, MW_ERROR_DTYPE for a weight of one name that differs; MW_ERROR_ARGUMENT if nothing is common
 */
mw_status mw__program_check_state(const mw_graph *graph, const mw__state_owner *lender, const mw__target *target,
                                  mw_error *err);
typedef struct mw__state_borrowing {
    const mw__state_owner *lender;
    const mw_graph *graph; /* that is compiled */
} mw__state_borrowing;
bool mw__borrow_state(void *user, const mw_port *port, mw__device_buffer *out);
void mw__program_borrow_state(mw_program *program, mw__state_owner *lender);
/* True if the memory of a port is the lender's. */
bool mw__program_is_borrowed(const mw_program *program, size_t port);

/* Copies what the legalizer replaced into the program, and logs it once. */
struct mw__narrowing;
mw_status mw__program_take_warnings(mw_program *program, const struct mw__narrowing *narrowed, mw_error *err);

/* The program of one shape behind it, which is made if need be; itself if it has one shape, also NULL.
 *  errors  MW_ERROR_STATE if shapes or values are still to come */
mw_status mw__program_resolve(mw_program *program, mw_program **out, mw_error *err);
/* The same, if there is one already; NULL if not. */
const mw_program *mw__program_now(const mw_program *program);

/* A port and its memory: in the program, in its plan of the moment, or with what decides about plans. */
typedef struct mw__found_port {
    const mw_port *port;
    mw__port_rule rule;
    void *data;
    struct mw__flexible_input *held;
} mw__found_port;

/* errors  MW_ERROR_ARGUMENT for NULL, or a name that no port has; MW_ERROR_STATE if shapes are still to come */
mw_status mw__program_port_find(mw_program *program, const char *name, mw__found_port *out, mw_error *err);
mw_status mw__program_port_check(const mw_port *port, const void *data, size_t count, mw_error *err);
/* The refusal of values for a port as an error. */
mw_status mw__program_port_refused(const mw__refusal *refusal, size_t count, const char *name, mw_error *err);
/* To be called after values were put there. */
void mw__program_port_written(const mw__found_port *port);

/* Index of a port by the user's name, port_count if there is none. */
MW__SIBLING size_t mw__program_find(const mw_program *program, const char *name);
/* The memory of a port, as the user sees it, and its element count. */
void *mw__program_data(const mw_program *program, size_t port);
/* The same as a buffer that other programs may be bound to; false if the device has only copies of its parts. */
bool mw__program_buffer(const mw_program *program, size_t port, mw__device_buffer *out);
MW__SIBLING size_t mw__program_elements(const mw_program *program, size_t port);
/* The first values of a parameter into memory that is zero, drawn in its declared type and rounded to `dtype`, with the
 * seed and the threads of the options.
 *  errors  MW_ERROR_NUMERIC if one is not finite there */
mw_status mw__parameter_fill(const mw_tensor *parameter, mw_dtype dtype, const mw_compile_options *options,
                             const mw_allocator *allocator, void *out, mw_error *err);
mw_status mw__program_run(mw_program *program, mw_error *err);
/* What inputs hold goes into their parts, where the device has copies. */
mw_status mw__program_push_staged(mw_program *program, mw_error *err);
/* Inputs that the device holds in copied parts get the values of another program with the same ports. */
void mw__program_copy_staged(mw_program *program, const mw_program *from);

#endif
