/* A program as people see it: one line for each layer, with its parameters, bytes and work.
 *
 *     mw_summary *summary = mw_summary_create(graph, &err);
 *     for (size_t i = 0; i < mw_summary_count(summary); i++)
 *         puts(mw_summary_at(summary, i)->name);              // "conv1", "bn1", "relu_0", ..
 *     char *text = mw_summary_print(summary, &err);           // the same as a table
 *     mw_summary_destroy(summary);
 *
 * A layer is one operation, or several that people regard as one:
 *   - operations whose weights share a name ("bn1.weight" and "bn1.running_mean");
 *   - operations that one constructor of this library made (batch norm, cross entropy, dropout);
 *   - operations that together compute a norm, a softmax, an attention, gelu or silu; a product with the bias behind
 *     it; a norm with the factors behind it.
 * Some operations belong to the layer that needs them: those on weights and extents alone, casts, and the evaluation
 * form of a layer that is in training. docs/report.md says more.
 *
 * A summary is a copy: it outlives its graph. What it hands out lives as long as the summary.
 *
 * In libmillwright_view (<millwright/view.h>).
 *
 * Threads: a summary does not change: any number of threads may read it at the same time. */
#ifndef MILLWRIGHT_SUMMARY_H
#define MILLWRIGHT_SUMMARY_H

#include <millwright/graph.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mw_summary mw_summary;

/** A layer, or an input of the program. Strings are never NULL. */
typedef struct mw_summary_layer {
    const char *name;   /* of its weights ("bn1"), else of its result */
    const char *kind;   /* "input", "conv", "linear", "embedding", "lstm", "batch_norm", "attention", "gelu", ..; else
                         * MIL's name of the operation. "affine": several additions and products with constants;
                         * "rearrange": several reshapes and transposes; "gradient": what mw_grad added for a layer */
    const char *detail; /* "3x3, 64 -> 128, stride 2"; "" = nothing to say */
    const char *output; /* the result of the program that it computes, "" = none */
    size_t operation_count; /* without constants; 0 for an input */
    mw_dtype dtype;         /* of its result, the last that others read; MW_DTYPE_NONE if that is no tensor */
    mw_shape shape;
    int64_t parameters;    /* elements of its weights, without statistics (the running mean of a batch norm); weights
                            * that several layers share count in each */
    uint64_t weight_bytes; /* all constants and states behind it as they are stored, compressed ones as such */
    double flops;          /* of the operations that have a number: + - * / sqrt, comparison, minimum, maximum: 1 each;
                            * negative: none has */
    size_t unknown_flops;  /* operations that have none, as there is exp or the like in them. Of a recurrent layer and
                            * of attention the products are in `flops` all the same. An open extent counts as 1 */
    const size_t *reads;   /* the layers, by index, whose results it reads; ascending, all below its own index */
    size_t read_count;
} mw_summary_layer;

/** The whole. */
typedef struct mw_summary_totals {
    size_t operations; /* without constants */
    size_t layers;     /* without inputs */
    size_t inputs, outputs;
    int64_t parameters;        /* each weight once */
    uint64_t weight_bytes;     /* likewise, as they are stored */
    double flops;              /* of one run: of the operations that have a number */
    size_t unknown_flops;      /* operations that have none */
    uint64_t largest_bytes;    /* of one value that is computed or fed */
    uint64_t activation_bytes; /* the most bytes that values take at once, if operations run in the order of the
                                * program and each result except that of a reshape has its own memory */
    bool open;                 /* extents are open (?): flops and bytes count each as 1 */
} mw_summary_totals;

/** The layers of "main", or of the only function. Time and memory are linear in the program.
 *  return  owned by the caller; NULL with err set on failure
 *  errors  the graph's own first error; MW_ERROR_ARGUMENT if there are several functions and none is "main" */
MW_API mw_summary *mw_summary_create(const mw_graph *graph, mw_error *err);
/** Frees the summary. NULL is fine. */
MW_API void mw_summary_destroy(mw_summary *summary);

/** Number of layers, those of kind "input" among them; 0 for NULL. */
MW_API size_t mw_summary_count(const mw_summary *summary);
/** Layer `index`: inputs first, then each behind what it reads. NULL past the last. */
MW_API const mw_summary_layer *mw_summary_at(const mw_summary *summary, size_t index);
/** The parameters, bytes and work of all layers. All 0 for NULL. */
MW_API mw_summary_totals mw_summary_get_totals(const mw_summary *summary);

/** The summary as a table for people: a line for each layer, and the totals. `from` lists the layers that a line reads,
 *  if that is not the line above alone.
 *  return  freed with mw_string_free; NULL with err set on failure */
MW_API char *mw_summary_print(const mw_summary *summary, mw_error *err);

#ifdef __cplusplus
}
#endif
#endif
