/* What is known of the ANE by generation: whether a chip takes a program, and why not.
 *
 *     mw_chip_report *report = mw_chip_report_create(graph, MW_CHIP_H13, NULL, &err);
 *     if (!mw_chip_report_get_info(report).passes) {
 *         char *text = mw_chip_report_print(report, &err);
 *         puts(text);
 *         mw_string_free(text);
 *     }
 *     mw_chip_report_destroy(report);
 *
 * A MIL text is parsed first: mw_graph_parse_mil gives a graph. No Mac is asked: the rules are what others have
 * measured and published, each with its source (docs/chip_legality.md lists them all).
 *
 * Threads: a report does not change: any number of threads may read it at the same time. mw_chip_report_create reads
 * the graph as mw_program_create does. */
#ifndef MILLWRIGHT_CHIP_H
#define MILLWRIGHT_CHIP_H

#include <millwright/program.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Where a program stops on the chip. */
typedef enum mw_chip_stage {
    MW_CHIP_STAGE_VALIDATOR = 0, /* Apple's check of a layer refuses it */
    MW_CHIP_STAGE_LOWERING = 1,  /* its code generation does, whatever the check said */
    MW_CHIP_STAGE_LOAD = 2,      /* it compiles, and is refused when it is loaded or run */
    MW_CHIP_STAGE_RUN = 3,       /* it runs, and its numbers are others */
    MW_CHIP_STAGE_PLANNER = 4    /* Core ML does not offer it to the ANE: it runs on the CPU */
} mw_chip_stage;

typedef enum mw_chip_verdict {
    MW_CHIP_REFUSED = 0, /* the program does not run */
    MW_CHIP_WARNED = 1,  /* it runs, not as it should; or sources disagree on whether it does */
    MW_CHIP_NOTED = 2 /* nothing goes wrong by it: mw_program_create writes it otherwise, or it is only worth knowing */
} mw_chip_verdict;

/** One rule that holds at one place. Strings live as long as the report; those that may be absent are NULL then. */
typedef struct mw_chip_finding {
    const char *rule; /* its id, "conv_kernel_width" */
    mw_chip_verdict verdict;
    mw_chip_stage stage;
    const char *operation; /* "conv"; NULL of a port or a whole function */
    const char *tensor;    /* the result of the operation, or the port; NULL of a function */
    const char *operand;   /* the value at fault, if it is another one; or NULL */
    const char *message;   /* what is there and what is taken: "the kernel is wider than 13" */
    int64_t limit, there;  /* the numbers in it; both 0 for a rule without */
    const char *validator; /* Apple's words, as others recorded them; or NULL */
    const char *source;    /* who says so; of sources that disagree, each, and which is taken */
    const char *rewrite;   /* the name of what mw_program_create may write in its place; or NULL */
    const char *reason;    /* what that is; or NULL */
    bool rewritten;        /* it does so here */
    int text_line;         /* in the text that the graph was parsed from; 0 = built */
    int text_column;
} mw_chip_finding;

/** Who decides what the ANE takes. The two were compared on M4, and disagree both ways. */
typedef enum mw_chip_judge {
    MW_CHIP_JUDGE_DIRECT = 0, /* the ANE's compiler, given the whole program: as mw_program_create does */
    MW_CHIP_JUDGE_COREML = 1  /* the planner of Core ML, which offers operations to the ANE one by one. A refused one
                               * runs on the CPU, and its neighbors may still run on the ANE */
} mw_chip_judge;

/** How to check. Fill with mw_chip_check_defaults. */
typedef struct mw_chip_check_options {
    size_t struct_size;            /* set by mw_chip_check_defaults */
    bool as_it_is;                 /* the program as it stands, for what is given to the chip's compiler by others;
                                    * else as mw_program_create writes it, and what that mends is only noted */
    mw_chip_judge judge;           /* whose rules are asked; MW_CHIP_JUDGE_DIRECT by default */
    const char *function;          /* of the graph; NULL = "main", or the only one */
    const mw_allocator *allocator; /* of the report; NULL = the C library's heap */
} mw_chip_check_options;

/** Returns the default options. */
MW_API mw_chip_check_options mw_chip_check_defaults(void);

typedef struct mw_chip_report mw_chip_report;

/** Holds a program to the rules of a chip and gives all that is found at once. A graph with `?` extents is checked for
 *  its default shapes, if it says any. Weights whose files were not read are no hindrance: their numbers are not asked.
 *  graph    lent during the call; it stays as it is
 *  chip     MW_CHIP_AUTO: only what no generation takes. MW_CHIP_H11 and MW_CHIP_H12 refuse every program
 *  options  NULL = mw_chip_check_defaults()
 *  return   owned by the caller; NULL with err set
 *  errors   the graph's own first error; MW_ERROR_ARGUMENT for a chip, a judge or a function that there is not, or
 *           zeroed options. That a chip takes nothing of the program is no error
 *  source   ANEForge; ane-guide (github.com/sbryngelson/ane-guide) */
MW_API mw_chip_report *mw_chip_report_create(const mw_graph *graph, mw_chip chip, const mw_chip_check_options *options,
                                             mw_error *err);
/** Frees the report; twice as mw_trainer_destroy. NULL is fine. */
MW_API void mw_chip_report_destroy(mw_chip_report *report);

/** What a report came to. */
typedef struct mw_chip_report_info {
    bool passes; /* nothing is refused */
    size_t finding_count;
} mw_chip_report_info;

/** What the report came to. Zeros for NULL. */
MW_API mw_chip_report_info mw_chip_report_get_info(const mw_chip_report *report);
/** Finding `index`, in the order of the program's operations, then of its ports; it lives as long as the report; NULL
 *  beyond the last. */
MW_API const mw_chip_finding *mw_chip_report_finding_at(const mw_chip_report *report, size_t index);
/** The report as text, a paragraph for each finding; freed with mw_string_free.
 *  errors  MW_ERROR_MEMORY; MW_ERROR_ARGUMENT for NULL */
MW_API char *mw_chip_report_print(const mw_chip_report *report, mw_error *err);

/** "h13" of MW_CHIP_H13, "any" of MW_CHIP_AUTO; NULL for a chip that there is not. */
MW_API const char *mw_chip_name(mw_chip chip);
/** The chip of a name that people or Apple's compiler use, in any case: "m4", "a16", "h16", "h16g"; "any" is
 *  MW_CHIP_AUTO. The A chips stand where that compiler has them.
 *  out     unchanged if it is false: there is no such name, or an argument is NULL
 *  source  ane-guide, table 34.1; M6 study, table of program formats */
MW_API bool mw_chip_from_name(const char *name, mw_chip *out);

#ifdef __cplusplus
}
#endif

#endif
