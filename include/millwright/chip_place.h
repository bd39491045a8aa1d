/* Where a planner would put the operations of a program: on the CPU, the GPU or the ANE of a chip. A model of the stage
 * of Core ML that does so before anything is compiled (docs/chip_cost.md): each operation has a cost on each backend
 * that takes it, each segment of neighbors on one backend a launch, and each change of backend a transfer.
 *
 *     mw_chip_placement *placement = mw_chip_placement_create(graph, MW_CHIP_H13, NULL, &err);
 *     char *text = mw_chip_placement_print(placement, &err);
 *     puts(text);
 *     mw_string_free(text);
 *     mw_chip_placement_destroy(placement);
 *
 * In libmillwright_chip (<millwright/chip_all.h>).
 *
 * Threads: a placement does not change: any number of threads may read it at the same time. mw_chip_placement_create
 * reads the graph as mw_program_create does. */
#ifndef MILLWRIGHT_CHIP_PLACE_H
#define MILLWRIGHT_CHIP_PLACE_H

#include <millwright/chip_cost.h>

#ifdef __cplusplus
extern "C" {
#endif

/** How a way through the costs is chosen. The names are those of Core ML's compiler, of which no more is public. */
typedef enum mw_chip_segmenter {
    MW_CHIP_COARSE = 0,       /* greedy: each operation where it costs least behind the one before it */
    MW_CHIP_GRAPH = 1,        /* neighbors that run on the same backends stay together, and each such group likewise */
    MW_CHIP_SHORTEST_PATH = 2 /* the least sum of all */
} mw_chip_segmenter;

/** How to place. Fill with mw_chip_place_defaults. */
typedef struct mw_chip_place_options {
    size_t struct_size;             /* set by mw_chip_place_defaults */
    mw_chip_segmenter segmenter;    /* MW_CHIP_SHORTEST_PATH */
    bool without[MW_CHIP_BACKENDS]; /* nothing is put on that backend; all false */
    mw_chip_anchors anchors;        /* MW_CHIP_PLANNER. Of an operation alone: without a floor, which is the launch's */
    /* Penalties in microseconds, as the planner writes them into analytics.mil: launch of the ANE 0.125 ms and of
     * others 0, any change of backend 0.125; the output was fitted. source  M6 study, report 5.2 */
    double launch_ane_us;     /* 125 */
    double launch_other_us;   /* 0, of the CPU and the GPU */
    double transfer_ane_us;   /* 125, to the ANE */
    double transfer_other_us; /* 125 */
    double output_ane_us;     /* 125, where the last operation is on the ANE */
    bool as_it_is;            /* the program as it stands; else as mw_program_create writes it for the chip, in fp16 */
    const char *die;          /* "h17c", whose rates are taken; NULL = the chip's */
    const char *function;     /* of the graph; NULL = "main", or the only one */
    const mw_allocator *allocator; /* of the placement; NULL = the C library's heap */
} mw_chip_place_options;

/** Returns the default options. */
MW_API mw_chip_place_options mw_chip_place_defaults(void);

typedef struct mw_chip_placement mw_chip_placement;

/** An operation and where it was put. Strings live as long as the placement. */
typedef struct mw_chip_placed {
    const char *operation; /* "conv" */
    const char *name;      /* of its first result; "" if it has none */
    mw_chip_backend backend;
    mw_chip_cost cost;           /* there, without launch and transfer */
    double us[MW_CHIP_BACKENDS]; /* on each; negative: it does not run there */
    size_t segment;
    const char *refusal; /* the rule by which the chip refuses it, "conv_kernel_width"; NULL = it does not */
    const char *message; /* what that rule says; NULL */
    const char *reason;  /* why it is where it is */
    int text_line;       /* in the text that the graph was parsed from; 0 = built, or written anew */
    int text_column;
} mw_chip_placed;

/** Neighbors on one backend. */
typedef struct mw_chip_placed_segment {
    mw_chip_backend backend;
    size_t first, count; /* operations */
    double us;           /* of its operations */
    double launch_us;    /* of it */
    double transfer_us;  /* to it; 0 for the first */
} mw_chip_placed_segment;

/** The whole. */
typedef struct mw_chip_placement_totals {
    size_t operation_count, segment_count;
    double us;                              /* operations, launches, transfers and output */
    double output_us;                       /* of the last operation's backend */
    double operations_us[MW_CHIP_BACKENDS]; /* of those on each backend */
    size_t operations[MW_CHIP_BACKENDS];
    const char *form; /* why the program was placed as it stands; NULL = as options say */
} mw_chip_placement_totals;

/** Places each operation of a program but constants. One with blocks goes as a whole, and costs its blocks once. An
 *  operation that a rule of the chip refuses is not put on the ANE; the CPU and the GPU take all. A graph with `?`
 *  extents is placed for its default shapes, if it says any.
 *  graph    lent during the call; it stays as it is
 *  chip     as mw_chip_report_create
 *  options  NULL = mw_chip_place_defaults()
 *  return   owned by the caller; NULL with err set
 *  errors   the graph's own first error; MW_ERROR_ARGUMENT for a chip, die or function that there is not, penalties
 *           that are negative or no number, or zeroed options; MW_ERROR_UNSUPPORTED, naming operation and rule, for one
 *           that no backend takes which the options leave */
MW_API mw_chip_placement *mw_chip_placement_create(const mw_graph *graph, mw_chip chip,
                                                   const mw_chip_place_options *options, mw_error *err);
/** Frees the placement; twice as mw_trainer_destroy. NULL is fine. */
MW_API void mw_chip_placement_destroy(mw_chip_placement *placement);

/** The times, sizes and numbers of the whole placement. All 0 for NULL. */
MW_API mw_chip_placement_totals mw_chip_placement_get_totals(const mw_chip_placement *placement);
/** Operation `index` in the order of the program; NULL beyond the last. */
MW_API const mw_chip_placed *mw_chip_placement_at(const mw_chip_placement *placement, size_t index);
/** Segment `index`; NULL beyond the last. */
MW_API const mw_chip_placed_segment *mw_chip_placement_segment_at(const mw_chip_placement *placement, size_t index);

/** The placement as text, a line for each operation; freed with mw_string_free.
 *  errors  MW_ERROR_MEMORY; MW_ERROR_ARGUMENT for NULL */
MW_API char *mw_chip_placement_print(const mw_chip_placement *placement, mw_error *err);
/** The placement as JSON: an object with "chip", "segmenter", "us", "segments" and "operations". */
MW_API char *mw_chip_placement_json(const mw_chip_placement *placement, mw_error *err);

#ifdef __cplusplus
}
#endif

#endif
