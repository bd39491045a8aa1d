/* What a plan of a chip consists of: rules, operations, layers, cuts, the schedule, values.
 *
 *     const mw_chip_layer *layer;
 *     for (size_t i = 0; (layer = mw_chip_plan_layer_at(plan, i)) != NULL; i++)
 *         printf("%s on %s: %g us\n", layer->name, mw_chip_engine_name(layer->engine), layer->time_us);
 *
 * Indices count from 0; MW_CHIP_NONE stands for "none". The rows, and what they point to, live as long as the plan.
 *
 * In libmillwright_chip (<millwright/chip_all.h>).
 *
 * Threads: these are plain values; every function here may be called from any thread at any time. */
#ifndef MILLWRIGHT_CHIP_PLAN_ROWS_H
#define MILLWRIGHT_CHIP_PLAN_ROWS_H

#include <millwright/chip_cost.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MW_CHIP_NONE SIZE_MAX

/* ---- rules ---- */

/** One row of the tables that plans are made by. */
typedef struct mw_chip_plan_rule {
    const char *id;      /* "bias_add" */
    const char *pattern; /* "add or sub with one constant" */
    const char *becomes; /* "the offset of the layer" */
    const char *pass;    /* the pass of Apple's compiler that others have named; or NULL */
    const char *source;
} mw_chip_plan_rule;

/* ---- operations: what became of each ---- */

/** The slots of a layer, in order. source  ane-guide, ch. 22, listing 22.3 */
typedef enum mw_chip_slot {
    MW_CHIP_SLOT_OPERATION = 0, /* what the layer computes */
    MW_CHIP_SLOT_TEXTURE,
    MW_CHIP_SLOT_BROADCAST,
    MW_CHIP_SLOT_BEFORE, /* an activation before gain and offset */
    MW_CHIP_SLOT_GAIN,   /* with the next: gain-offset control, y = gain * x + offset */
    MW_CHIP_SLOT_OFFSET,
    MW_CHIP_SLOT_AFTER, /* an activation behind them */
    MW_CHIP_SLOT_TRANSPOSE,
    MW_CHIP_SLOT_QUANTIZE,
    MW_CHIP_SLOT_OPERAND,   /* in an operand of the layer: a pad, a transpose, weights */
    MW_CHIP_SLOT_ELIMINATED /* in no layer */
} mw_chip_slot;

/** An operation of the program, in its order. */
typedef struct mw_chip_plan_op {
    const char *operation, *tensor; /* "add", and its first result */
    size_t layer;                   /* MW_CHIP_NONE: eliminated */
    mw_chip_slot slot;
    const mw_chip_plan_rule *rule;
    const char *reason; /* why so here: "the offset of conv \"y\"" */
    int text_line;      /* 0 = built */
} mw_chip_plan_op;

/* ---- layers ---- */

/** What computes a layer. */
typedef enum mw_chip_engine {
    MW_CHIP_ENGINE_NEURAL = 0, /* the multiply-accumulate arrays */
    MW_CHIP_ENGINE_PLANAR,
    MW_CHIP_ENGINE_TEXTURE,
    MW_CHIP_ENGINE_TRANSPOSE,
    MW_CHIP_ENGINE_BRIDGE /* a program of its own, or none of the chip's */
} mw_chip_engine;

/** A layer, in the order of the schedule. */
typedef struct mw_chip_layer {
    const char *kind; /* "convolution" */
    const char *name; /* the tensor that it writes */
    mw_chip_engine engine;
    bool multiplies;   /* it is work of the multiply-accumulate arrays, not only passed through them */
    const size_t *ops; /* indices of operations, in the order of the program */
    size_t op_count;
    const size_t *inputs; /* indices of values, each once; constants are none */
    size_t input_count;
    const size_t *outputs;
    size_t output_count;
    double flops;
    int64_t bytes_in, bytes_out; /* of values */
    int64_t weight_bytes;        /* of constants: kernel, gain, offset, tables */
    int64_t weight_offset;       /* in the stream of weights */
    bool weights_stay;           /* they fit the kernel memory; else they are streamed */
    size_t kernel_parts;         /* cut along output channels for the kernel memory; 1 = whole */
    size_t tiles;                /* cut by rows for the working set; 1 = whole */
    const char *refused;         /* of a bridge: why; else NULL */
    const char *refused_rule;    /* the rule of mw_chip_report_create, or "sdpa_cut" */
    size_t segment, partition;   /* where it runs */
    size_t partner;              /* the layer that it is issued with, or MW_CHIP_NONE */
    double start_us, time_us;    /* the larger of compute and bandwidth (chip_cost.h) */
    mw_chip_bound bound;         /* of the two */
} mw_chip_layer;

/** A limit that cut a layer, or undid a fusion. */
typedef struct mw_chip_split {
    size_t layer;
    const mw_chip_plan_rule *rule;
    const char *reason;
    int64_t limit, there;
} mw_chip_split;

/* ---- schedule ---- */

/** A program of its own: one dispatch. */
typedef struct mw_chip_segment {
    size_t first_layer, layer_count;
    bool is_bridge;
    size_t engines;            /* 2 where the die has two ANEs and its compiler would share the program; else 1 */
    size_t parts;              /* its maps are cut into so many along their pixels; 1 = whole */
    size_t first_engine_parts; /* of these on the first ANE; the second has the others, never fewer */
} mw_chip_segment;

/** What shares the memory on chip. */
typedef struct mw_chip_partition {
    size_t first_layer, layer_count;
    size_t segment;
    int64_t peak; /* bytes on chip at once, as the scheduler counted them */
    const mw_chip_plan_rule *closed_by;
    int64_t refused_peak; /* what it would have been with the next layer; 0 if nothing closed it */
} mw_chip_partition;

/** Two layers that might be issued at once. */
typedef struct mw_chip_pair {
    size_t first, second; /* layers; first stands before second */
    bool issued;
    const mw_chip_plan_rule *rule; /* that says yes, or the first that says no */
} mw_chip_pair;

/* ---- values ---- */

/** The nine states of the allocator. source  ane-guide, ch. 22, table 22.2 */
typedef enum mw_chip_allocation {
    MW_CHIP_ALLOCATION_RESIDENT = 0,           /* on chip */
    MW_CHIP_ALLOCATION_STREAMED = 1,           /* in DRAM */
    MW_CHIP_ALLOCATION_CHAINED = 2,            /* goes straight into the next layer */
    MW_CHIP_ALLOCATION_DEPENDENT = 3,          /* on chip, made of what another layer chained */
    MW_CHIP_ALLOCATION_IN_PLACE = 4,           /* written over an operand on chip */
    MW_CHIP_ALLOCATION_IN_PLACE_DEPENDENT = 5, /* the same, made of what was chained */
    MW_CHIP_ALLOCATION_RING = 6,               /* a ring buffer */
    MW_CHIP_ALLOCATION_RING_DEPENDENT = 7,     /* the same, made of what was chained */
    MW_CHIP_ALLOCATION_IN_PLACE_DRAM = 8       /* written over an operand in DRAM */
} mw_chip_allocation;

typedef enum mw_chip_memory {
    MW_CHIP_MEMORY_ON_CHIP = 0, /* the working set */
    MW_CHIP_MEMORY_DRAM,        /* what a program has between its partitions */
    MW_CHIP_MEMORY_PORT         /* the caller's */
} mw_chip_memory;

/** A tensor that goes from layer to layer, in or out. */
typedef struct mw_chip_value {
    const char *name;
    mw_dtype dtype;
    mw_shape shape;
    int64_t bytes;         /* with rows padded */
    size_t producer;       /* a layer, or MW_CHIP_NONE: an input */
    const size_t *readers; /* layers, in order */
    size_t reader_count;
    bool is_output;
    size_t first, last; /* layers between which it lives */
    mw_chip_allocation allocation;
    const char *reason;
    mw_chip_memory memory;
    int64_t offset, extent; /* in that memory; of a ring buffer the extent is less than bytes; 0 of ports */
    size_t over;            /* the value that it is written over, or MW_CHIP_NONE */
} mw_chip_value;

/* ---- time ---- */

/** What a figure of time rests on. */
typedef enum mw_chip_time_basis {
    MW_CHIP_TIME_MEASURED = 0, /* on this chip, by others */
    MW_CHIP_TIME_COMPILER,     /* read from Apple's compiler */
    MW_CHIP_TIME_BORROWED,     /* measured on another chip */
    MW_CHIP_TIME_MODEL         /* sums of the others; one run on a Mac would settle it */
} mw_chip_time_basis;

/** One part of what a step takes, as a range. */
typedef struct mw_chip_time {
    const char *name; /* "weights from memory" */
    double low_us, high_us;
    mw_chip_time_basis basis; /* of the rate that it was computed by */
    const char *source;
} mw_chip_time;

/* ---- names ---- */

/** "neural" of MW_CHIP_ENGINE_NEURAL, "gain" of MW_CHIP_SLOT_GAIN; NULL for what there is not. */
MW_API const char *mw_chip_engine_name(mw_chip_engine engine);
MW_API const char *mw_chip_slot_name(mw_chip_slot slot);
MW_API const char *mw_chip_allocation_name(mw_chip_allocation allocation);
/** "measured", "compiler", "borrowed", "model"; NULL for another number. */
MW_API const char *mw_chip_time_basis_name(mw_chip_time_basis basis);

#ifdef __cplusplus
}
#endif
#endif
