/* The core: the one header that a training loop, a fine-tuning or an inference includes. Beside it stand
 * <millwright/inspect.h> (plans, comparisons, ranges, checks of gradients), <millwright/chip_all.h> (the ANE's compiler
 * and its files), <millwright/view.h> (pictures and reports) and <millwright/mpi.h>, each with a library of its own.
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
#include <millwright/dataset_derived.h>
#include <millwright/dataset_files.h>
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
#include <millwright/op_activation.h>
#include <millwright/op_attention.h>
#include <millwright/op_compare.h>
#include <millwright/op_control.h>
#include <millwright/op_conv.h>
#include <millwright/op_elementwise.h>
#include <millwright/op_gather.h>
#include <millwright/op_image.h>
#include <millwright/op_matmul.h>
#include <millwright/op_normalize.h>
#include <millwright/op_pool.h>
#include <millwright/op_quantize.h>
#include <millwright/op_random.h>
#include <millwright/op_recurrent.h>
#include <millwright/op_reduce.h>
#include <millwright/op_sample.h>
#include <millwright/op_shape.h>
#include <millwright/op_sort.h>
#include <millwright/op_space.h>
#include <millwright/operation.h>
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
