/* Plans while they are made: the function, what is known of its operations and values, and the layers. One file for
 * each phase reads and writes this in turn. */
#ifndef MW__CHIP_PLAN_PLAN_H
#define MW__CHIP_PLAN_PLAN_H

#include "rules/legality.h"
#include "rules/slots.h"

#include <millwright/chip_plan.h>

/* ---- rows ---- */

typedef enum mw__chip_plan_rule_id {
#define MW_PLAN_RULE(id, pattern, becomes, pass, source) MW__PLAN_##id,
#include "chip/plan/rules.def"
#undef MW_PLAN_RULE
    MW__PLAN_RULE_COUNT
} mw__chip_plan_rule_id;

extern const mw_chip_plan_rule mw__chip_plan_rules[MW__PLAN_RULE_COUNT];

/* What of the published classes of layers an operation heads. */
typedef enum mw__chip_layer_class {
    MW__LAYER_PRODUCT, /* convolution and matrix multiply */
    MW__LAYER_POOL,
    MW__LAYER_ELEMENTWISE,
    MW__LAYER_EPILOGUE, /* a slot that stands alone: the layer passes its input through (ZinNEBypassLayer) */
    MW__LAYER_REDUCTION,
    MW__LAYER_OTHER,
    MW__LAYER_MOVE /* computes nothing */
} mw__chip_layer_class;

typedef struct mw__chip_layer_kind {
    const char *name;
    mw__chip_layer_class class;
    mw_chip_engine engine;
    const char *source; /* of the engine */
} mw__chip_layer_kind;

/* Never NULL; for the chip, as some have engines that others lack. */
const mw__chip_layer_kind *mw__chip_layer_kind_of(const mw__op *op, const mw__chip_row *chip);
const mw__chip_layer_kind *mw__chip_layer_kind_convolution(void);
const mw__chip_layer_kind *mw__chip_layer_kind_gain_offset(void);
/* A function whose values stand in a table, not of pieces of lines. */
bool mw__chip_layer_function_is_curve(const mw__op *op);
/* Those that the table of fusions names. */
bool mw__chip_layer_function_is_published(const mw__op *op);

/* ---- the state ---- */

typedef struct mw__chip_plan_layer {
    mw_chip_layer public;
    const mw__chip_layer_kind *kind;
    const mw__op *head;
    size_t head_index; /* of the operation; layers stand in this order until they are scheduled. It alone reads what is
                        * computed elsewhere */
    size_t tail_index; /* of the last, whose results the layer writes */
    mw__slot_kind filled; /* up to where */
    bool is_cut;          /* a segment of its own */
    /* the schedule */
    size_t *next; /* layers that read from this one, each once */
    size_t next_count;
    size_t *before; /* layers that it reads from, each once */
    size_t before_count;
    size_t waits;    /* of those, how many are not scheduled */
    size_t position; /* MW_CHIP_NONE until it is scheduled */
    size_t level;    /* the longest way from an input */
    size_t segment;
    int64_t footprint; /* bytes of what it reads and writes */
    size_t merge;      /* where the branch ends that it begins: the first layer with other operands, or MW_CHIP_NONE */
    int64_t branch_bytes; /* the largest footprint of that branch */
} mw__chip_plan_layer;

typedef struct mw__chip_plan_value {
    mw_chip_value public;
    const mw_tensor *tensor;
    size_t producer; /* layer, in the order of heads */
    size_t *readers;
    size_t reader_count, left; /* left: readers that are not scheduled */
    bool is_ring, is_chainable;
    int64_t ring_bytes;
    int64_t held; /* bytes on chip while it is scheduled */
} mw__chip_plan_value;

struct mw_chip_plan {
    const mw_allocator *allocator;
    mw__arena arena; /* of everything below */
    const mw__chip_row *chip;
    mw_chip_plan_totals totals;
    mw_chip_plan_op *ops;
    mw_chip_layer *layers;
    mw_chip_split *splits;
    mw_chip_segment *segments;
    mw_chip_partition *partitions;
    mw_chip_pair *pairs;
    mw_chip_value *values;
    mw_chip_time *times;
    size_t time_count;
    size_t op_count, layer_count, split_count, segment_count, partition_count, pair_count, value_count;
    size_t split_capacity, segment_capacity, partition_capacity, pair_capacity;
};

typedef struct mw__chip_planner {
    const mw_allocator *heap;
    mw_chip_plan *plan;
    mw__arena scratch;
    const mw_chip_plan_options *options;
    mw__legality legality;
    const mw__chip_row *chip;
    const mw__function *main;
    const mw__block *body;
    /* by value id */
    const mw_tensor **alias; /* what its readers take instead; NULL = itself */
    uint32_t *uses;          /* readers that are left, outputs as one */
    size_t *made_by;         /* index of its operation; MW_CHIP_NONE of inputs and literals */
    bool *is_constant;       /* folded */
    /* by operation */
    bool *is_unsound;    /* unknown, against its own row, or with blocks: nothing is asked of it */
    bool *folded_concat; /* its readers read its operands */
    /* the rest */
    mw__chip_plan_layer *layers;
    size_t layer_count, layer_capacity;
    mw__chip_plan_value *values;
    size_t value_count;
    size_t *order; /* layers as scheduled */
    size_t scheduled;
    int64_t live; /* bytes on chip of the partition that is open */
    int64_t matmul_weight_max, kernel_max, budget;
    mw_error *err;
} mw__chip_planner;

enum { MW__PLAN_LAYERS_MAX = 1 << 15 };

/* ---- asking ---- */

/* What stands for a value after copies were eliminated. */
const mw_tensor *mw__chip_plan_resolve(const mw__chip_planner *p, const mw_tensor *value);
bool mw__chip_plan_is_constant(const mw__chip_planner *p, const mw_tensor *value);
/* Bytes in memory, rows padded; of constants as they are stored. */
int64_t mw__chip_plan_value_bytes(const mw__chip_planner *p, const mw_tensor *value);
int64_t mw__chip_plan_constant_bytes(const mw_tensor *value);
/* Calls `visit` for each value that an operation reads and that is computed, with aliases and fused concats resolved.
 */
typedef void mw__chip_plan_visit(void *user, const mw_tensor *value);
void mw__chip_plan_each_input(const mw__chip_planner *p, size_t op, mw__chip_plan_visit *visit, void *user);

/* What is read of an operation by name; NULL where it is absent or constant. */
const mw_tensor *mw__chip_plan_operand(const mw__chip_planner *p, const mw__op *op, const char *name);
/* What a layer reads, each value once, in the scratch arena. NULL on failure. */
const mw_tensor **mw__chip_plan_layer_inputs(mw__chip_planner *p, const mw__chip_plan_layer *layer, size_t *out_count);
/* What an operation of a slot heads where it stands alone. */
const mw__chip_layer_kind *mw__chip_plan_kind(const mw__chip_planner *p, const mw__op *op);
/* A product that is rewritten to a convolution: its weights are constant and fit. */
bool mw__chip_plan_is_convolution(const mw__chip_planner *p, const mw__op *op);
/* The operation that makes the value; NULL of inputs and constants. */
const mw__op *mw__chip_plan_maker(const mw__chip_planner *p, const mw_tensor *value);

/* ---- writing ---- */

/* Readers of `value` take `instead` from now on. */
void mw__chip_plan_set_alias(mw__chip_planner *p, const mw_tensor *value, const mw_tensor *instead);
/* Says what became of an operation. */
void mw__chip_plan_note(mw__chip_planner *p, size_t op, mw_chip_slot slot, size_t layer, mw__chip_plan_rule_id rule,
                        const char *format, ...) __attribute__((format(printf, 6, 7)));
const char *mw__chip_plan_string(mw__chip_planner *p, const char *string);
/* A new layer headed by the operation; MW_CHIP_NONE on failure. */
size_t mw__chip_plan_add_layer(mw__chip_planner *p, size_t op, const mw__chip_layer_kind *kind);
mw_status mw__chip_plan_add_split(mw__chip_planner *p, size_t layer, mw__chip_plan_rule_id rule, int64_t limit,
                                  int64_t there, const char *reason);

/* ---- between files of one phase ---- */

/* priority.c: true if layer a is to be scheduled before b, both of which are ready. */
void mw__chip_plan_find_branches(mw__chip_planner *p);
bool mw__chip_plan_goes_first(const mw__chip_planner *p, size_t a, size_t b);
/* partition.c: puts a layer behind those that are scheduled, in the open partition or in a new one. */
mw_status mw__chip_plan_append(mw__chip_planner *p, size_t layer);
mw_status mw__chip_plan_open_partition(mw__chip_planner *p, size_t segment);
/* reorder.c */
mw_status mw__chip_plan_reorder(mw__chip_planner *p);

typedef struct mw__chip_plan_range {
    double low, high;
} mw__chip_plan_range;

/* engines.c: what of a layer's work the busier of its program's engines has, in halves to by parts; 1 where it is not
 * shared. */
mw__chip_plan_range mw__chip_plan_engine_share(const mw__chip_planner *p, size_t layer);

/* ---- the phases, in order ---- */

mw_status mw__chip_plan_collapse(mw__chip_planner *p); /* collapse.c: what vanishes before layers are made */
mw_status mw__chip_plan_fuse(mw__chip_planner *p);     /* fuse.c */
mw_status mw__chip_plan_legalize(mw__chip_planner *p); /* legalize.c */
mw_status mw__chip_plan_connect(mw__chip_planner *p);  /* values.c */
mw_status mw__chip_plan_schedule(
    mw__chip_planner *p); /* schedule.c; afterwards layers stand in the order of the schedule */
mw_status mw__chip_plan_pair(mw__chip_planner *p);     /* pairs.c */
mw_status mw__chip_plan_allocate(mw__chip_planner *p); /* allocate.c */
mw_status mw__chip_plan_share(mw__chip_planner *p);    /* engines.c */
mw_status mw__chip_plan_time(mw__chip_planner *p);     /* time.c */
mw_status mw__chip_plan_step(mw__chip_planner *p);     /* step.c */

/* A sum of bytes; INT64_MAX if it is more. */
static inline int64_t mw__chip_plan_add(int64_t a, int64_t b) { return a > INT64_MAX - b ? INT64_MAX : a + b; }

#endif
