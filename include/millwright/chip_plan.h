/* What the compiler of a chip would make of a graph: layers of its engines, their order, and where values lie.
 *
 *     mw_chip_plan *plan = mw_chip_plan_create(graph, MW_CHIP_H13, NULL, &err);
 *     char *text = mw_chip_plan_print(plan, &err);
 *     puts(text);
 *     mw_string_free(text);
 *     mw_chip_plan_write_svg(plan, "plan.svg", &err);
 *     mw_chip_plan_destroy(plan);
 *
 * The four phases of Apple's compiler as others have published them (docs/chip_plan.md says who, and what each rests
 * on): operations are fused into layers, layers are held to the chip's limits and cut, a list scheduler puts them into
 * one order and closes partitions, and an allocator says where each value lies. Nothing here was measured by this
 * project, and no Mac is asked. What the sources leave open is a field of the options.
 *
 * What getters return lives as long as the plan.
 *
 * In libmillwright_chip (<millwright/chip_all.h>).
 *
 * Threads: a plan does not change: any number of threads may read it at the same time. */
#ifndef MILLWRIGHT_CHIP_PLAN_H
#define MILLWRIGHT_CHIP_PLAN_H

#include <millwright/chip_plan_rows.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- options ---- */

/** Whose epilogue takes what follows. */
typedef enum mw_chip_absorbers {
    MW_CHIP_ABSORB_PUBLISHED = 0, /* convolution, matrix multiply, pool, element-wise, and what stands alone */
    MW_CHIP_ABSORB_REDUCTIONS,    /* reductions too */
    MW_CHIP_ABSORB_ANY            /* every layer but moves */
} mw_chip_absorbers;

/** What becomes of a constant factor behind a convolution whose weights are constant. */
typedef enum mw_chip_scale {
    MW_CHIP_SCALE_GAIN = 0, /* the gain of the layer */
    MW_CHIP_SCALE_WEIGHTS   /* multiplied into the weights, so that the gain stays free */
} mw_chip_scale;

typedef enum mw_chip_concat {
    MW_CHIP_CONCAT_BOUNDARY = 0, /* a layer of its own */
    MW_CHIP_CONCAT_CHANNELS      /* vanishes where operands are computed, read by nothing else and joined along axis 1:
                                  * their layers write the parts of one value */
} mw_chip_concat;

/** How the scheduler counts the branches that meet or part at an operation. */
typedef enum mw_chip_score {
    MW_CHIP_SCORE_SCHEDULED = 0, /* how many of the siblings are scheduled already */
    MW_CHIP_SCORE_FEWEST,        /* fewer siblings that are not scheduled yet come first */
    MW_CHIP_SCORE_NONE           /* not at all */
} mw_chip_score;

typedef enum mw_chip_order {
    MW_CHIP_ORDER_TEXT = 0, /* the order of the program */
    MW_CHIP_ORDER_LEVEL     /* the longest way from an input first */
} mw_chip_order;

/** How to plan. Fill with mw_chip_plan_defaults. For each field its default, who says so, or that it is open. */
typedef struct mw_chip_plan_options {
    size_t struct_size;   /* set by mw_chip_plan_defaults */
    bool as_it_is;        /* false. The program as it stands; else as mw_program_create writes it for the chip */
    const char *function; /* NULL = "main", or the only one */
    const mw_allocator *allocator; /* of the plan; NULL = the C library's heap */
    /* fusion */
    int64_t matmul_weight_max; /* 0 = the chip's working set, 2 MB: a constant right-hand side of at most so many bytes
                                * makes a product a convolution. source  ane-guide, ch. 22 */
    mw_chip_absorbers absorbers;   /* REDUCTIONS: the ane-guide lists the first four; that 1/N fits behind a sum follows
                                    * from ANEForge's group norm, right on M5 only without a rounding between */
    mw_chip_scale scale;           /* GAIN. Both are published (FoldScale, FoldWeightsWithScale), not when which */
    mw_chip_concat concat;         /* BOUNDARY. What IsFusableConcat asks is not published */
    bool published_functions_only; /* false: any function of one element takes an activation slot, as a table can hold
                                    * any; true: relu and its kin, clamps, silu, sigmoid, tanh, gelu, as published */
    /* legalization */
    int64_t kernel_max; /* 0 = what the chip streams, 16 MB. A layer with more bytes of weights is cut along its
                         * output channels. source  ane-guide, ch. 22 and appendix A: the limit is for one
                         * buffer; which buffer is not known */
    bool keep_fusions;  /* false: a layer that is cut no longer fuses with a transpose behind it. It is
                         * published that capacity passes undo fusions (ane-guide, ch. 22), but not which ones */
    /* schedule */
    double margin;              /* 0.9. The share of the working set that a partition may fill. Published is that it is
                                 * below one */
    int64_t stream_tile;        /* 65536. Bytes on chip of a value that is streamed; open */
    bool no_ring_buffers;       /* false: a value between two layers that are cut by rows, the second of which reads
                                 * windows, is a ring buffer. Which values are is open */
    mw_chip_score branch_score; /* SCHEDULED; the name is published, not its number */
    mw_chip_score merge_score;  /* SCHEDULED; likewise */
    mw_chip_order order;        /* TEXT; "topological order" has more than one */
    size_t co_issue_window;     /* 1, at most 64. How far behind a layer its partner may stand; open */
    /* memory */
    bool no_chaining;      /* false. The bit of a chip that enables it is not published by chip */
    bool no_in_place;      /* false. When a value is written over another is not published */
    int64_t row_alignment; /* 64. Bytes of which the last axis takes a multiple; source  public .hwx of H13 */
    int64_t alignment;     /* 64. Of where values and weights begin; likewise */
    int64_t ring_windows;  /* 2. How many windows of rows a ring buffer holds; open */
} mw_chip_plan_options;

/** Returns the default options. */
MW_API mw_chip_plan_options mw_chip_plan_defaults(void);

/* ---- making ---- */

typedef struct mw_chip_plan mw_chip_plan;

/** Plans a graph for a chip. What is refused by a rule of mw_chip_report_create is a bridge: a layer by itself, where
 *  the program is cut. Weights whose files were not read are no hindrance.
 *  graph    lent during the call; it stays as it is
 *  chip     MW_CHIP_AUTO: the limits that every generation has
 *  options  NULL = mw_chip_plan_defaults()
 *  return   owned by the caller; NULL with err set
 *  errors   those of mw_chip_report_create; MW_ERROR_UNSUPPORTED for more than 2^15 layers, or a program that
 *           mw_program_create cannot write for the chip; MW_ERROR_ARGUMENT for zeroed options, or a margin that is not
 *           above 0 and at most 1
 *  source   ane-guide (github.com/sbryngelson/ane-guide), ch. 22 */
MW_API mw_chip_plan *mw_chip_plan_create(const mw_graph *graph, mw_chip chip, const mw_chip_plan_options *options,
                                         mw_error *err);
/** Frees the plan; twice as mw_trainer_destroy. NULL is fine. */
MW_API void mw_chip_plan_destroy(mw_chip_plan *plan);

/* ---- reading: what a plan consists of is in chip_plan_rows.h ---- */

/** Row `index`, in their order; NULL beyond the last. */
MW_API const mw_chip_plan_rule *mw_chip_plan_rule_at(size_t index);

/** All of it in numbers. */
typedef struct mw_chip_plan_totals {
    mw_chip chip;
    size_t ops, eliminated; /* constants among both */
    size_t constants;
    size_t layers, bridges, segments, partitions, values, splits, issued_pairs;
    int64_t on_chip_peak;        /* the largest of any partition, as it is laid out */
    int64_t working_set, budget; /* the chip's, and what of it a partition may fill */
    int64_t dram_bytes;          /* between partitions, as it is laid out */
    int64_t streamed_bytes;      /* of values, in and out of DRAM */
    int64_t weight_bytes;        /* the stream of weights */
    double flops, time_us;       /* time: of all layers, and the floor of each dispatch */
    double floor_us;
} mw_chip_plan_totals;

/** The times, sizes and numbers of the whole plan. Zeros for NULL. */
MW_API mw_chip_plan_totals mw_chip_plan_get_totals(const mw_chip_plan *plan);
/** Operation, layer, .. `index` of the plan; NULL beyond the last, and for a plan that is NULL. */
MW_API const mw_chip_plan_op *mw_chip_plan_op_at(const mw_chip_plan *plan, size_t index);
MW_API const mw_chip_layer *mw_chip_plan_layer_at(const mw_chip_plan *plan, size_t index);
MW_API const mw_chip_split *mw_chip_plan_split_at(const mw_chip_plan *plan, size_t index);
MW_API const mw_chip_segment *mw_chip_plan_segment_at(const mw_chip_plan *plan, size_t index);
MW_API const mw_chip_partition *mw_chip_plan_partition_at(const mw_chip_plan *plan, size_t index);
MW_API const mw_chip_pair *mw_chip_plan_pair_at(const mw_chip_plan *plan, size_t index);
MW_API const mw_chip_value *mw_chip_plan_value_at(const mw_chip_plan *plan, size_t index);
/** Part `index` of what a run takes on MW_CHIP_H13, H16, H17 and H18G (M1, M4, M5, M6); NULL beyond the last, and at
 *  once for other chips, of which nothing was measured. */
MW_API const mw_chip_time *mw_chip_plan_time_at(const mw_chip_plan *plan, size_t index);

/* ---- writing ---- */

/** The plan as text, as JSON, and as a picture: layers over time in lanes of engines and boxes of partitions, memory by
 *  allocation below. Freed with mw_string_free.
 *  errors  MW_ERROR_MEMORY; MW_ERROR_ARGUMENT for NULL */
MW_API char *mw_chip_plan_print(const mw_chip_plan *plan, mw_error *err);
MW_API char *mw_chip_plan_print_json(const mw_chip_plan *plan, mw_error *err);
MW_API char *mw_chip_plan_print_svg(const mw_chip_plan *plan, mw_error *err);
/** What a run takes, as text: a line for each part with its range, basis and source.
 *  errors  as mw_chip_plan_print */
MW_API char *mw_chip_plan_print_time(const mw_chip_plan *plan, mw_error *err);
/** The picture as a file, which replaces what is there.
 *  errors  MW_ERROR_FILE naming the file; MW_ERROR_ARGUMENT for a NULL path; those of mw_chip_plan_print_svg */
MW_API mw_status mw_chip_plan_write_svg(const mw_chip_plan *plan, const char *path, mw_error *err);

#ifdef __cplusplus
}
#endif

#endif
