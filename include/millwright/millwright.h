/* The core: the one header that a training loop, a fine-tuning or an inference includes. Beside it stand
 * <millwright/data.h> (files as data sets, and sets made of others), <millwright/inspect.h> (plans, comparisons,
 * ranges, checks of gradients), <millwright/chip_all.h> (the ANE's compiler and its files), <millwright/view.h>
 * (pictures and reports) and <millwright/mpi.h>, each with a library of its own.
 *
 * Threads: each header says what may be called at the same time; in short, one object takes one call at a time, and
 * different objects know nothing of each other. */
#ifndef MILLWRIGHT_MILLWRIGHT_H
#define MILLWRIGHT_MILLWRIGHT_H

#include <millwright/autograd.h>
#include <millwright/communicator.h>
#include <millwright/compile.h>
#include <millwright/compress.h>
#include <millwright/confusion.h>
#include <millwright/coreml.h>
#include <millwright/dataset.h>
#include <millwright/description.h>
#include <millwright/fit.h>
#include <millwright/function.h>
#include <millwright/graph.h>
#include <millwright/layer.h>
#include <millwright/loss.h>
#include <millwright/metrics.h>
#include <millwright/mil.h>
#include <millwright/model.h>
#include <millwright/onnx.h>
#include <millwright/operation.h>
#include <millwright/ops/activation.h>
#include <millwright/ops/attention.h>
#include <millwright/ops/compare.h>
#include <millwright/ops/control.h>
#include <millwright/ops/conv.h>
#include <millwright/ops/elementwise.h>
#include <millwright/ops/gather.h>
#include <millwright/ops/image.h>
#include <millwright/ops/matmul.h>
#include <millwright/ops/normalize.h>
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
#include <millwright/tune.h>
#include <millwright/types.h>
#include <millwright/watch.h>
#include <millwright/weights.h>
#include <millwright/write.h>

#endif
