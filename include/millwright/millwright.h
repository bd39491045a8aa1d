/* The core: the one header that a training loop, a fine-tuning or an inference includes.
 *
 *     mw_error err = {0};
 *     mw_graph *g = mw_graph_create(NULL, &err);                               // graph.h, ops/ and loss.h: a network
 *     mw_tensor *x = mw_input(g, "x", MW_F32, MW_SHAPE(128, 784)), *y = mw_input(g, "y", MW_I32, MW_SHAPE(128));
 *     mw_tensor *logits = mw_dense(mw_relu(mw_dense(x, 256, "fc1")), 10, "fc2");
 *     mw_trainer_options options = mw_trainer_defaults(mw_cross_entropy(logits, y), mw_adam(3e-3f));
 *     mw_trainer *trainer = mw_trainer_create(&options, &err);                 // trainer_options.h, trainer.h
 *     mw_fit_options fit = mw_fit_defaults(digits, 5);                         // fit.h; dataset.h: columns "x" and "y"
 *     if (mw_trainer_fit(trainer, &fit, &err) != MW_OK)                        // a call after an error does nothing
 *         fprintf(stderr, "%s\n", err.message);
 *
 * Where to begin: a loop of one's own: trainer.h, and dataset.h for batches; how good a model is: evaluate.h; a model
 * of a file: model.h; training a part of it, adapters: tune.h and weights.h; files of it: write.h; one program, port by
 * port: compile.h and program.h.
 *
 * Beside it stand <millwright/data.h> (files as data sets, and sets made of others), <millwright/inspect.h> (plans,
 * comparisons, ranges, checks of gradients), <millwright/chip_all.h> (the ANE's compiler and its files),
 * <millwright/view.h> (pictures and reports), <millwright/communicator.h> (several processes) and <millwright/mpi.h>,
 * each with a library of its own.
 *
 * Threads: each header says what may be called at the same time; in short, one object takes one call at a time, and
 * different objects know nothing of each other. */
#ifndef MILLWRIGHT_MILLWRIGHT_H
#define MILLWRIGHT_MILLWRIGHT_H

#include <millwright/autograd.h>
#include <millwright/compile.h>
#include <millwright/coreml.h>
#include <millwright/dataset.h>
#include <millwright/description.h>
#include <millwright/evaluate.h>
#include <millwright/fit.h>
#include <millwright/function.h>
#include <millwright/gguf.h>
#include <millwright/graph.h>
#include <millwright/loss.h>
#include <millwright/metrics.h>
#include <millwright/mil.h>
#include <millwright/model.h>
#include <millwright/onnx.h>
#include <millwright/ops/activation.h>
#include <millwright/ops/attention.h>
#include <millwright/ops/compare.h>
#include <millwright/ops/control.h>
#include <millwright/ops/conv.h>
#include <millwright/ops/elementwise.h>
#include <millwright/ops/gather.h>
#include <millwright/ops/image.h>
#include <millwright/ops/layer.h>
#include <millwright/ops/matmul.h>
#include <millwright/ops/normalize.h>
#include <millwright/ops/operation.h>
#include <millwright/ops/pool.h>
#include <millwright/ops/quantize.h>
#include <millwright/ops/random.h>
#include <millwright/ops/recurrent.h>
#include <millwright/ops/reduce.h>
#include <millwright/ops/sample.h>
#include <millwright/ops/shape.h>
#include <millwright/ops/sort.h>
#include <millwright/ops/space.h>
#include <millwright/optimizer.h>
#include <millwright/optimizer_custom.h>
#include <millwright/program.h>
#include <millwright/schedule.h>
#include <millwright/status.h>
#include <millwright/tensors.h>
#include <millwright/trainer.h>
#include <millwright/trainer_options.h>
#include <millwright/trainer_rates.h>
#include <millwright/tune.h>
#include <millwright/types.h>
#include <millwright/watch.h>
#include <millwright/weights.h>
#include <millwright/write.h>

#endif
