/* Functions of a program, and the shapes that their inputs may have.
 *
 *     for (size_t i = 0; mw_graph_function_at(graph, i) != NULL; i++)
 *         puts(mw_graph_function_at(graph, i));                            // "main", "decode"
 *     mw_graph *decode = mw_graph_function(graph, "decode", &err);         // alone, as "main" of its own graph
 *     mw_admitted_shapes admitted;
 *     mw_graph_admitted_shapes(decode, "tokens", &admitted, &err);         // 1 to 512 along axis 1
 *     const mw_input_shape shapes[] = {{"tokens", MW_SHAPE(1, 7)}};
 *     mw_graph *seven = mw_graph_specialize(decode, shapes, 1, &err);      // no extent is `?` any more
 *
 * Most programs have one function. Every other call that takes a graph means its function "main".
 * A program whose inputs have `?` extents is compiled for one shape after the other (mw_program_set_shapes); training
 * wants it specialized. An input of a graph that you build may have `?` where the constructors behind it need no
 * number: a batch before mw_dense, say. A constructor that needs one refuses it (mw_graph_check).
 *
 * Threads: as the rest of a graph: calls on one graph come one at a time, from any thread; other graphs do not mind. */
#ifndef MILLWRIGHT_FUNCTION_H
#define MILLWRIGHT_FUNCTION_H

#include <millwright/graph.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- functions ---- */

/** Name of function `index`, in the order of the text; NULL past the last. Lives as long as the graph. */
MW_API const char *mw_graph_function_at(const mw_graph *graph, size_t index);

/** The operator set of "main", or of the only function; 0 for NULL, and where there is neither. */
MW_API mw_opset mw_graph_opset(const mw_graph *graph);

/** A copy of one function, as "main" of a graph of its own: to be compiled, trained or written.
 *  name    NULL = "main", or the only function
 *  return  owned by the caller, by the allocator of the graph; NULL with err set on failure
 *  errors  the graph's own first error; MW_ERROR_ARGUMENT if there is no such function (the message lists them) */
MW_API mw_graph *mw_graph_function(const mw_graph *graph, const char *name, mw_error *err);

/* ---- shapes ---- */

/** What an input admits. */
typedef enum mw_admission {
    MW_ADMITS_ONE,    /* its shape is known */
    MW_ADMITS_RANGES, /* extents between two bounds, axis by axis */
    MW_ADMITS_LISTED, /* the shapes of a list (mw_graph_listed_shape) */
    MW_ADMITS_ANY     /* any extents for `?`: the program does not say */
} mw_admission;

/** The shapes that an input of "main" may have, as Core ML's compiler notes them in the function's attribute
 *  FlexibleShapeInformation (DefaultShapes with RangeDims or EnumeratedShapes), or by its `?` alone. */
typedef struct mw_admitted_shapes {
    mw_admission kind;
    mw_shape declared; /* as in the text; MW_DIM_UNKNOWN for `?` */
    bool has_standard;
    mw_shape standard;  /* the default shape */
    mw_shape low, high; /* MW_ADMITS_RANGES: both inclusive; high MW_DIM_UNKNOWN = no bound */
    size_t count;       /* MW_ADMITS_LISTED: of listed shapes */
} mw_admitted_shapes;

/** Fills *out with what an input of "main" admits.
 *  errors  MW_ERROR_ARGUMENT if there is no such input that the host feeds; MW_ERROR_FORMAT if the attribute is no such
 *          information, or contradicts itself or the input: bounds that are inverted or negative, a list that is empty,
 *          a shape that does not fit the declared one */
MW_API mw_status mw_graph_admitted_shapes(const mw_graph *graph, const char *input, mw_admitted_shapes *out,
                                          mw_error *err);

/** Shape `index` of the list of an input. Where several inputs are listed, those with one index belong together.
 *  errors  as mw_graph_admitted_shapes; MW_ERROR_ARGUMENT past the last */
MW_API mw_status mw_graph_listed_shape(const mw_graph *graph, const char *input, size_t index, mw_shape *out,
                                       mw_error *err);

/** A copy of "main" for one shape of each input. Every extent behind them follows, also in loops and branches; integers
 *  that follow from extents and constants become constants, so that operations that take shapes, repetitions or
 *  positions as values get them. FlexibleShapeInformation is left out.
 *  shapes  of inputs, each admitted; an input that is not named gets its default shape
 *  return  owned by the caller, by the allocator of the graph; NULL with err set on failure
 *  errors  MW_ERROR_ARGUMENT for an input that is not there or named twice; MW_ERROR_SHAPE for a shape that is not
 *          admitted (the message says what is), for an input with `?` that has neither shape nor default, and if the
 *          operations do not fit the shapes; MW_ERROR_UNSUPPORTED if an extent depends on values that are only known
 *          when the program runs, naming the operation */
MW_API mw_graph *mw_graph_specialize(const mw_graph *graph, const mw_input_shape *shapes, size_t count, mw_error *err);

/** A copy of "main" for another number of examples: a program that was trained or exported at batch 128 becomes one of
 *  batch 1, or 512. The batch of the source is the largest number that divides the first extent of every input that the
 *  host feeds; so an input may hold several rows of each example.
 *  Extents that depend on the batch change everywhere. Shapes and bounds of slices that are written as constants are
 *  written again, and so are constants with the same values for each example. Every result of the copy belongs to one
 *  example, as in the source.
 *  A layer with another form in evaluation (a batch norm that trains) is checked in its evaluation form. The copy has
 *  both forms: when it trains, it takes the means of its own batch. Values that are assigned to states are not checked
 *  for mixing examples, but their shapes must fit.
 *  examples  of the copy, from 1
 *  return    owned by the caller, by the allocator of the graph; NULL with err set on failure
 *  errors    MW_ERROR_ARGUMENT if inputs have no first extent in common, or open extents (mw_graph_specialize);
 *            MW_ERROR_UNSUPPORTED, naming the operation, if a result depends on several examples (a mean over the
 *            batch, a loop or branch whose condition needs several examples) or on their number, or if an operation
 *            works only at the batch of the source (a constant that differs from example to example) */
MW_API mw_graph *mw_graph_rebatch(const mw_graph *graph, int64_t examples, mw_error *err);

/** A copy in which states are those of MIL (`state<tensor<fp16, ..>>`), as Core ML keeps them between predictions: each
 *  is read where the function begins and, if it is assigned (mw_state_assign), written where it ends, which coremltools
 *  calls coreml_update_state. An fp32 state is fp16 there, and is widened and rounded; Core ML's start at 0. To be
 *  written with mw_graph_write.
 *  return  owned by the caller, by the allocator of the graph; NULL with err set on failure
 *  errors  MW_ERROR_ARGUMENT if there is no state; MW_ERROR_DTYPE for one of another type; MW_ERROR_UNSUPPORTED below
 *          ios18 */
MW_API mw_graph *mw_graph_stateful(const mw_graph *graph, mw_error *err);

#ifdef __cplusplus
}
#endif
#endif
