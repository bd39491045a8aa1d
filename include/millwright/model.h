/* Models for inference: read from any file, run on any number of examples, by several threads at once.
 *
 *     mw_model *model = mw_model_open("Detector.mlpackage", NULL, &err);
 *     const mw_feed feeds[] = {{.name = "image", .dtype = MW_F32, .data = pixels, .count = n * 784}};
 *     const mw_batch batch = {.feeds = feeds, .feed_count = 1, .examples = n};
 *     const mw_result results[] = {{"scores", MW_F32, scores, n * 10}};
 *     mw_model_predict(model, &batch, results, 1, &err);
 *
 * For many calls a thread keeps a predictor, whose buffers stay:
 *
 *     mw_predictor *predictor = mw_predictor_create(model, &err);               // one for each thread
 *     mw_predictor_predict(predictor, &batch, results, 1, &err);
 *
 * A model holds the program, its weights, and what was compiled of it, once for all predictors; a predictor holds what
 * one thread works on, and its states. The batch of the file says nothing of how it is run: a program of 128 examples
 * runs with one, if each result belongs to one example (mw_graph_rebatch).
 *
 * mw_program_create and mw_program_run are the same one level below: one program, one batch, ports that are written and
 * read.
 *
 * Threads: a model may be used by several threads at once, also to predict and to make predictors. Calls on one
 * predictor come one at a time, from any thread; different predictors of one model may run at the same time. */
#ifndef MILLWRIGHT_MODEL_H
#define MILLWRIGHT_MODEL_H

#include <millwright/coreml.h>
#include <millwright/dataset.h>
#include <millwright/onnx.h>
#include <millwright/program.h>
#include <millwright/weights.h>
#include <millwright/write.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mw_model mw_model;
typedef struct mw_trainer mw_trainer;
typedef struct mw_predictor mw_predictor;

/** Weights of a file that a model starts with. They go in before anything is compiled, as mw_graph_load_weights puts
 *  them into a graph: predictors and threads share the values, which no call changes later. */
typedef struct mw_model_weights {
    const char *path;                  /* as mw_graph_load_weights takes it; NULL = those of the model */
    const mw_weights_options *options; /* NULL = mw_weights_defaults(); without a path it is refused */
} mw_model_weights;

/** How a model is read and run. Fill with mw_model_defaults. Pointers are read during the call only, unless said. */
typedef struct mw_model_options {
    size_t struct_size;
    const mw_compile_options *compile; /* device, threads, function, ..; NULL = mw_compile_defaults(). `share` and
                                        * `keep_folder` are not for models; the allocator outlives the model, and is
                                        * called by the threads that use it */
    int64_t batch;                /* the most examples of one run. 0 = the latency of one counts: 1, or the batch of
                                   * the file where the program cannot be brought to 1 */
    const mw_input_shape *shapes; /* of inputs with `?` extents, as mw_graph_specialize */
    size_t shape_count;
    const mw_onnx_options *onnx; /* how an ONNX file is read; NULL = mw_onnx_defaults() */
    mw_model_weights weights;    /* in the place of those that the file or the graph has */
    int max_plans;               /* shapes that a predictor keeps ready, 1 to 1024; 0 = 8 */
    bool read_only;              /* nothing is compiled: to look at the model, and to write it. It has no ports, and
                                  * predicting, predictors and classes are MW_ERROR_STATE */
    const mw_description *description; /* of mw_model_create: what mw_model_write says of it; it outlives the model */
} mw_model_options;

/** Returns the default options. */
MW_API mw_model_options mw_model_defaults(void);

/** Reads a model: a Core ML package (.mlpackage) or compiled model (.mlmodelc), MIL text or a folder with model.mil, an
 *  ONNX file, or a netplist (.espresso.net); a folder is known by what is in it. Of several functions compile->function
 *  is taken, else the one that the file says is the default. The program is compiled for the shapes of the options, or
 *  the default ones.
 *  options  NULL = mw_model_defaults()
 *  return   owned by the caller; NULL with err set on failure
 *  errors   MW_ERROR_UNSUPPORTED for a netplist before mw_chip_register (<millwright/chip_all.h>);
 *           those of mw_coreml_open, mw_graph_open_onnx, mw_graph_open_netplist, mw_graph_open_mil,
 *           mw_graph_specialize, mw_program_create; MW_ERROR_FORMAT for a file of another kind; those of
 *           mw_graph_rebatch if `batch` is given, and of mw_graph_load_weights if `weights` are */
MW_API mw_model *mw_model_open(const char *path, const mw_model_options *options, mw_error *err);

/** Makes a model of a graph, which is copied, as mw_model_open does of a file. A graph that was built and trained is
 *  given as mw_graph_evaluation. Parameters have their initial values, or those of options->weights. */
MW_API mw_model *mw_model_create(const mw_graph *graph, const mw_model_options *options, mw_error *err);

/** Frees the model, at once or with the last of its predictors. Twice, or for NULL, as mw_program_destroy. */
MW_API void mw_model_destroy(mw_model *model);

/** What a model is as a whole; pointers live as long as the model. */
typedef struct mw_model_info {
    const mw_graph *graph;             /* the program, as it was read, with its own batch */
    const mw_description *description; /* what the file says of itself: a package its description, an ONNX file its
                                        * metadata_props, MIL its buildInfo without what compilers say of themselves
                                        * there; NULL if it says nothing */
    int64_t batch;                     /* the most examples that one run takes */
    size_t port_count;                 /* of mw_model_port_at */
} mw_model_info;

/** What the model is. Zeros for NULL. */
MW_API mw_model_info mw_model_get_info(const mw_model *model);

/** Fills *out with port `index`, the inputs that are fed first, then the results: types and shapes of a run of `batch`
 *  examples. Strings live as long as the model. false past the last. */
MW_API bool mw_model_port_at(const mw_model *model, size_t index, mw_port *out);

/** The shape of a result of so many examples, as mw_predictor_predict fills it: the axis that belongs to the examples
 *  has them all, wherever it stands. Of a result that brings the examples of a run together, the first axis has the
 *  runs.
 *  examples  from 1
 *  errors    MW_ERROR_ARGUMENT if there is no such result; MW_ERROR_SHAPE for a shape that is too large */
MW_API mw_status mw_model_result_shape(const mw_model *model, const char *result, int64_t examples, mw_shape *out,
                                       mw_error *err);

/** The labels of a result, as mw_program_classes. */
MW_API mw_status mw_model_classes(const mw_model *model, const char *result, mw_classes *out, mw_error *err);

/** Writes the program of the model, with its own batch (mw_graph_write). What a description says goes along where the
 *  format has a place for it: that of the options, else that of the file that was read. Parameters and states become
 *  constants with the values that they start with.
 *  options  NULL = mw_write_defaults(); `bake`, `replace` and `function` are the model's own, and refused
 *  errors   those of mw_graph_write */
MW_API mw_status mw_model_write(const mw_model *model, const char *path, const mw_write_options *options,
                                mw_error *err);

/** Writes what a trainer has learned as a model (mw_graph_write).
 *  With a source: the source with the trained values in the place of its own. Operations, names, layouts, inputs,
 *  results, types and shapes are those of the source; adapters are merged, W + alpha / r B A rounded once to the dtype
 *  of W. Parameters of the source become constants.
 *  Without one: the trainer's prediction as one whole model, with layers that were put on top of a source; adapters are
 *  merged where they stand beside one use of a weight. Whatever batch it was trained with, an ONNX file takes any
 *  number of examples, and the other formats one, unless operations hold the program at the batch of the training
 *  (mw_graph_rebatch) or options->keep_batch asks for that. Noise becomes MIL's random_*. Without adapters it computes,
 *  at the batch of the trainer, on the same device what the trainer predicts, bit for bit; on MW_DEVICE_ANE within
 *  rounding if there are convolutions, which are matrix products as long as their weights are trained. The result is
 *  called as the prediction (mw_name), else "prediction"; inputs that it does not need, such as labels, are left out.
 *  With options->check_only, before the first step: what it would fail of after the last.
 *  trainer  with a source: of a graph that mw_graph_trainable or mw_graph_lora made from it
 *  source   of a graph that was built with dropout or batch norm layers: its mw_graph_evaluation. NULL = none
 *  options  NULL = mw_write_defaults(); `bake`, `replace` and `any_batch` are refused, `keep_batch` with a source too
 *  errors   those of mw_graph_write; MW_ERROR_ARGUMENT if something that was trained has no place in the source, and
 *           for a trainer without a prediction where there is no source; MW_ERROR_NUMERIC for a value that the dtype of
 *           the source cannot hold */
MW_API mw_status mw_trainer_export(mw_trainer *trainer, const mw_graph *source, const char *path,
                                   const mw_write_options *options, mw_error *err);

/* ---- predicting ---- */

/** A predictor, with buffers and states of its own; it keeps the model alive. */
MW_API mw_predictor *mw_predictor_create(mw_model *model, mw_error *err);
/** Frees the predictor. Twice, or while it predicts, as mw_trainer_destroy. NULL is fine. */
MW_API void mw_predictor_destroy(mw_predictor *predictor);

/** Where a result goes. */
typedef struct mw_result {
    const char *name;
    mw_dtype dtype; /* that the elements are converted to, as mw_program_read */
    void *data;
    size_t count; /* elements: those of one example times the examples */
} mw_result;

/** Predicts `batch->examples` examples, at least 1, in runs of the model's batch (mw_model_info). The last run is
 *  filled up with copies of the last example; these copies are in no result. A single example has its own plan. The
 *  last bits of a result may depend on the number of examples in its run, because sums are then divided in another way.
 *
 *  A feed holds the elements of all examples, one example after the other. It is converted under the rule of
 *  mw_program_write, and its values must be finite. An optional input with a default value (mw_feature) may be left
 *  out. A feed that is no input is ignored.
 *
 *  In a result, the examples lie along the same axis as in the program, usually the first. If this axis is not known,
 *  the results of the runs are stacked one after the other. A result that depends on no input is given once. Only the
 *  listed results of the program are read.
 *
 *  A program with states sees the examples as steps, one after the other.
 *
 *  On the engine it allocates memory only when it makes a plan: for the first single example, or for new shapes.
 *  errors  MW_ERROR_ARGUMENT for a missing feed, an unknown result, or no example; MW_ERROR_SHAPE if a count does
 *          not fit the number of examples; MW_ERROR_UNSUPPORTED for a number of examples other than the batch, if a
 *          result combines examples; MW_ERROR_UNSUPPORTED for a number that is no multiple of the batch, if the program
 *          has states; those of mw_program_write. What was written to results before an error is undefined */
MW_API mw_status mw_predictor_predict(mw_predictor *predictor, const mw_batch *batch, const mw_result *results,
                                      size_t result_count, mw_error *err);

/** Predicts as a predictor would that is made for this call: the bits are those of mw_predictor_predict, a program with
 *  states begins with their first values, and several threads may call it at once. Each call allocates its buffers, and
 *  makes the plan of a single example anew where the batch of the model is more: a loop keeps a predictor.
 *  errors  those of mw_predictor_create and mw_predictor_predict */
MW_API mw_status mw_model_predict(mw_model *model, const mw_batch *batch, const mw_result *results, size_t result_count,
                                  mw_error *err);

/** Other shapes for inputs with `?` extents; those that are not named keep theirs. The plan is made at once, and shared
 *  by all predictors that want it; choosing shapes again that this predictor keeps (options.max_plans) costs next to
 *  nothing. States hold what they held.
 *  errors  those of mw_graph_specialize and mw_program_create; then the predictor has the shapes that it had */
MW_API mw_status mw_predictor_set_shapes(mw_predictor *predictor, const mw_input_shape *shapes, size_t count,
                                         mw_error *err);

/** Gives every state of the program its first value again. */
MW_API mw_status mw_predictor_reset(mw_predictor *predictor, mw_error *err);

/** Reads a state, or replaces it, under the rule of mw_program_read and mw_program_write.
 *  errors  MW_ERROR_ARGUMENT if the program has no such state */
MW_API mw_status mw_predictor_read(mw_predictor *predictor, const char *state, mw_dtype dtype, void *out_data,
                                   size_t count, mw_error *err);
MW_API mw_status mw_predictor_write(mw_predictor *predictor, const char *state, mw_dtype dtype, const void *data,
                                    size_t count, mw_error *err);

#ifdef __cplusplus
}
#endif
#endif
