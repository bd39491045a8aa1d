/* Losses of embeddings and of sequences without alignment.
 *
 *     mw_tensor *image = mw_linear_layer(..), *text = mw_linear_layer(..);          // [N, D]
 *     mw_tensor *loss = mw_mul_scalar(mw_add(mw_info_nce(image, text, 0.07f), mw_info_nce(text, image, 0.07f)), 0.5);
 *
 * As the losses of loss.h, with these differences: mw_info_nce and mw_nt_xent compare the examples of a batch with one
 * another, so that their value depends on the batch size, and an evaluation takes the mean of the batches' values.
 *
 * Threads: as loss.h. */
#ifndef MILLWRIGHT_LOSS_EMBEDDING_H
#define MILLWRIGHT_LOSS_EMBEDDING_H

#include <millwright/loss.h>

#ifdef __cplusplus
extern "C" {
#endif

/** y = x / max(|x|, epsilon), |x| the Euclidean length along `axis`.
 *  x        [..]  F16 or F32, at least rank 1
 *  axis     in [-rank, rank)
 *  epsilon  finite and at least 2^-14, the smallest normal number of fp16: below it a device of fp16 would divide by 0
 *  return   shape and dtype of x. Rows are divided by their largest element first, so that no square leaves the range
 *           of fp16
 *  errors   MW_ERROR_ARGUMENT, MW_ERROR_DTYPE, MW_ERROR_SHAPE for an axis without elements
 *  vjp      dx = (dy - y sum(dy y)) / |x|; dy / epsilon where |x| < epsilon
 *  source   PyTorch F.normalize, whose epsilon is 1e-12 */
MW_API mw_tensor *mw_normalize(mw_tensor *x, int axis, float epsilon);

/** loss = mean over n of 1 - cos(a[n], b[n]) where target[n] > 0, else max(0, cos(a[n], b[n]) - margin).
 *  a, b     [N, .., D]  same shape, both F16 or both F32; lengths below 2^-14 count as that
 *  target   [N, ..]     dtype of a; 1 for pairs that belong together, -1 for others
 *  margin   in [-1, 1]; PyTorch's default is 0
 *  return   scalar
 *  errors   MW_ERROR_SHAPE, MW_ERROR_DTYPE, MW_ERROR_ARGUMENT
 *  vjp      of its operations; none for target
 *  source   PyTorch CosineEmbeddingLoss */
MW_API mw_tensor *mw_cosine_embedding(mw_tensor *a, mw_tensor *b, mw_tensor *target, float margin);

/** loss = mean over n of max(0, |anchor[n] - positive[n]| - |anchor[n] - negative[n]| + margin).
 *  anchor, positive, negative  [N, .., D]  one shape, F16 or F32
 *  margin   positive and finite; PyTorch's default is 1
 *  return   scalar
 *  errors   MW_ERROR_SHAPE, MW_ERROR_DTYPE, MW_ERROR_ARGUMENT
 *  vjp      of its operations; two equal points pull nowhere
 *  source   PyTorch TripletMarginLoss with p = 2, but for the 1e-6 that it adds to each difference */
MW_API mw_tensor *mw_triplet(mw_tensor *anchor, mw_tensor *positive, mw_tensor *negative, float margin);

/** loss = mean over n of -log softmax over m of cos(queries[n], keys[m]) / temperature, at m = n: each query finds its
 *  key among those of the batch. For both directions take the mean of the losses of (a, b) and (b, a).
 *  queries, keys  [N, D]  same shape, both F16 or both F32; lengths below 2^-14 count as that
 *  temperature    in [0.001, 1000]; 0.07 is usual
 *  return   scalar
 *  errors   MW_ERROR_SHAPE, MW_ERROR_DTYPE, MW_ERROR_ARGUMENT
 *  vjp      of its operations
 *  source   van den Oord et al. 2018; Radford et al. 2021 */
MW_API mw_tensor *mw_info_nce(mw_tensor *queries, mw_tensor *keys, float temperature);

/** loss = mean over the 2 N views of -log softmax over all other views of cos / temperature, at the other view of the
 *  same example.
 *  a, b     [N, D]  two views of each example; as mw_info_nce, with N of 1 or more
 *  source   Chen et al. 2020 (SimCLR) */
MW_API mw_tensor *mw_nt_xent(mw_tensor *a, mw_tensor *b, float temperature);

/** loss = mean over n of -log P(labels[n]) / max(1, label_lengths[n]), P the sum over all ways to spread the labels
 *  over the steps: each step says one class or blank, and blanks and repetitions are dropped.
 *  log_probabilities  [N, T, C]  F16 or F32, finite, of mw_log_softmax(x, -1); PyTorch has [T, N, C]
 *  labels         [N, L]  I32 in [0, C), L >= 1, none of them blank; what lies beyond the length does not count, but is
 *                 a class
 *  input_lengths  [N]     I32 in [0, T], steps that count; NULL = all T
 *  label_lengths  [N]     I32 in [0, L]; NULL = all L
 *  blank          in [0, C); PyTorch's default is 0
 *  return   scalar. An example whose labels do not fit into its steps counts 0 and has no gradient, as with PyTorch's
 *           zero_infinity. So does one that is less likely by e^-15000
 *           than the likeliest way to say anything
 *  cost     the steps are unrolled: about 25 operations each, of [N, L] elements
 *  errors   MW_ERROR_SHAPE, MW_ERROR_DTYPE, MW_ERROR_ARGUMENT
 *  vjp      of its operations
 *  source   Graves et al. 2006; PyTorch CTCLoss */
MW_API mw_tensor *mw_ctc(mw_tensor *log_probabilities, mw_tensor *labels, mw_tensor *input_lengths,
                         mw_tensor *label_lengths, int64_t blank);

#ifdef __cplusplus
}
#endif
#endif
