/* Reverse-mode differentiation: a graph gains the operations that compute its gradients.
 *
 *     mw_tensor *dw;
 *     mw_grad(loss, &w, 1, &dw, &err);          // dw has the shape of w
 *     mw_hvp(loss, &w, &v, 1, &hv, &err);       // Hessian-vector product
 *
 * Gradients are ordinary tensors of the same graph, so they can be differentiated again.
 *
 * Threads: as the rest of a graph: calls on one graph come one at a time, from any thread; other graphs do not mind. */
#ifndef MILLWRIGHT_AUTOGRAD_H
#define MILLWRIGHT_AUTOGRAD_H

#include <millwright/graph.h>

#ifdef __cplusplus
extern "C" {
#endif

/** out_dx[i] = d loss / d x[i].
 *  loss    scalar (rank 0, or one element), F16 or F32
 *  x       tensors of the same graph, any values (not only leaves), F16 or F32
 *  out_dx  receives `count` tensors with the shapes of x; zeros where the loss does not depend on x[i], also where it
 *          does so only by way of tensors without elements
 *  errors  MW_ERROR_SHAPE if loss is not a scalar (use a reduction), MW_ERROR_UNSUPPORTED naming the operation if a
 *          path from x to loss goes through one without a gradient, MW_ERROR_DTYPE for integer x; then all out_dx
 *          are NULL */
MW_API mw_status mw_grad(mw_tensor *loss, mw_tensor *const *x, size_t count, mw_tensor **out_dx, mw_error *err);

/** Where a backward pass starts and where it ends. */
typedef struct mw_pullback {
    mw_tensor *const *roots; /* of any shape */
    mw_tensor *const *seeds; /* cotangents with the shapes of the roots; a NULL entry (or NULL array) means ones, for
                                scalar roots only */
    size_t root_count;
    mw_tensor *const *stops; /* values that gradients do not pass, besides those marked with mw_stop_gradient; may be
                                NULL with 0 */
    size_t stop_count;
} mw_pullback;

/** The general form: dx[i] = sum over r of (d root[r] / d x[i])^T seed[r].
 *
 *     const mw_pullback from = {.roots = &y, .seeds = &dy, .root_count = 1};
 *     mw_backward(&from, &x, 1, &dx, &err);
 *
 *  errors  as mw_grad; MW_ERROR_SHAPE if a seed is not like its root, MW_ERROR_ARGUMENT if it is of another graph */
MW_API mw_status mw_backward(const mw_pullback *pullback, mw_tensor *const *x, size_t count, mw_tensor **out_dx,
                             mw_error *err);

/* ---- products with the Jacobian ----
 * J = dy / dx for tensors y and x of any shapes, never made. u has the shapes of y, v those of x. */

/** out_dx[i] = sum over r of u[r] J[r][i]: the pullback, reverse mode. mw_backward without stops.
 *  y, u     y_count tensors and their cotangents; a NULL u[r] (or NULL array) means ones, for scalars only
 *  x        count tensors of the same graph, any values, F16 or F32
 *  out_dx   receives `count` tensors with the shapes of x; zeros where no y depends on x[i]
 *  errors   as mw_grad; MW_ERROR_SHAPE if u[r] is not like y[r], MW_ERROR_ARGUMENT if it is of another graph */
MW_API mw_status mw_vjp(mw_tensor *const *y, mw_tensor *const *u, size_t y_count, mw_tensor *const *x, size_t count,
                        mw_tensor **out_dx, mw_error *err);

/** out_dy[r] = sum over i of J[r][i] v[i]: the pushforward, forward mode.
 *  v        tangents with the shapes and types of x; a NULL v[i] (or NULL array) means ones, for scalars only
 *  out_dy   receives `y_count` tensors with the shapes of y; zeros where y[r] depends on no x
 *  errors   as mw_vjp
 *  source   u J is linear in u, so its derivative by u in the direction v is J v ("a new trick for calculating
 *           Jacobian vector products", J. Townsend 2017): no operation needs a forward rule. The operations of u J are
 *           dead afterwards and are not compiled. A custom VJP is transposed like any other. Where x[i] is computed
 *           from x[j], the effect of x[j] includes the one through x[i], as in mw_vjp. */
MW_API mw_status mw_jvp(mw_tensor *const *y, size_t y_count, mw_tensor *const *x, mw_tensor *const *v, size_t count,
                        mw_tensor **out_dy, mw_error *err);

/** out_hv[i] = sum over j of (d^2 loss / d x[i] d x[j]) v[j]: the Hessian of a scalar times a vector, over several x.
 *  v        directions with the shapes and types of x; a NULL v[j] (or NULL array) means ones, for scalars only
 *  out_hv   receives `count` tensors with the shapes of x; zeros where the gradient does not depend on x[i]
 *  errors   as mw_grad */
MW_API mw_status mw_hvp(mw_tensor *loss, mw_tensor *const *x, mw_tensor *const *v, size_t count, mw_tensor **out_hv,
                        mw_error *err);

/* ---- memory for time ---- */

/** Returns y, and marks the operations between `inputs` and y as a segment. The backward pass computes a segment again
 *  instead of keeping its values (gradient checkpointing).
 *
 *     for (int i = 0; i < layers; i++) {
 *         mw_tensor *start = x;
 *         x = mw_recompute(block(x, i), &start, 1);
 *     }
 *
 *  inputs  `count` tensors at which the segment starts. With 0 inputs it starts at the leaves. Leaves that the segment
 *          reads (parameters, inputs) need not be listed; each copy of the graph finds them again. In a loop or branch,
 *          the values that the segment reads from outside need not be listed either
 *  return  an identity of y, to be used in its place; lives as long as the graph. NULL for NULL
 *  memory  n equal layers in segments of k keep n / k inputs and the values of one segment: least at k = sqrt(n), for
 *          about one more forward pass. Segments may be nested, and may overlap: each is computed again on its own
 *  bits    gradients are the same to the bit, unless a value is used both inside and outside of a segment: then its
 *          parts are added in another order; so are those of a parameter that is. On MW_DEVICE_ANE what is rounded
 *          depends on how many operations read a value (`wide_chains`, docs/chip.md). Operations named random_* are
 *          kept, not repeated; noise and dropout give the same numbers again
 *  note    values inside a segment have no gradient of their own: name them among the inputs. The mark goes along into
 *          the copies that trainers make, and is lost in MIL text
 *  errors  MW_ERROR_ARGUMENT if an input is NULL or of another graph, or if nothing lies between them and y */
MW_API mw_tensor *mw_recompute(mw_tensor *y, mw_tensor *const *inputs, size_t count);

/* ---- gradients of one's own ---- */

/** What the rule of a custom VJP is asked. */
typedef struct mw_custom_vjp_call {
    void *user;               /* what mw_custom_vjp was given */
    mw_graph *graph;          /* to which the rule appends: the one of mw_custom_vjp, or a trainer's copy of it */
    mw_tensor *const *inputs; /* as given, in that graph */
    const bool *wants;        /* by input: whether its cotangent is needed */
    size_t count;             /* of inputs */
    mw_tensor *y;             /* the value */
    mw_tensor *dy;            /* its cotangent: shape and dtype of y */
} mw_custom_vjp_call;

/** Writes out_dx[i], shape and dtype of inputs[i], for every i with wants[i]; entries are NULL before. It uses the
 *  constructors, on tensors of call->graph only, and should be linear in dy (mw_jvp relies on it); when it is made of
 *  operations with gradients, the gradient can be differentiated again.
 *  return   MW_OK, or a status to refuse with; the rule may describe it in *err */
typedef mw_status mw_custom_vjp_rule(const mw_custom_vjp_call *call, mw_tensor **out_dx, mw_error *err);

/** y with a gradient of one's own: rule(inputs, y, dy) instead of what the operations between inputs and y have.
 *
 *     static mw_status reverse(const mw_custom_vjp_call *call, mw_tensor **out_dx, mw_error *err)
 *     {
 *         (void)err;
 *         out_dx[0] = mw_neg(call->dy);
 *         return MW_OK;
 *     }
 *     mw_tensor *h = mw_custom_vjp("reverse", features, &features, 1, reverse, NULL);
 *
 *  name     for messages; copied
 *  inputs   1 or more tensors of the graph of y. No gradient flows to anything else: what y depends on in another way
 *           is seen as constant
 *  rule     called while a gradient is built (mw_grad and the like, mw_trainer_create), once for each gradient that
 *           passes y; never when a program runs
 *  user     handed to the rule; must stay valid until the graph and every trainer made from it are destroyed
 *  return   an identity of y (other uses of y keep its own gradient); lives as long as the graph. The rule goes along
 *           into the copies that trainers make, and is lost in MIL text
 *  errors   MW_ERROR_ARGUMENT for a missing name, rule or input, or an input of another graph. A gradient through y
 *           fails with the name if the rule fails, or gives nothing, a tensor of another graph, shape or dtype, or asks
 *           for a gradient that passes y (MW_ERROR_STATE); the graph may then hold dead operations */
MW_API mw_tensor *mw_custom_vjp(const char *name, mw_tensor *y, mw_tensor *const *inputs, size_t count,
                                mw_custom_vjp_rule *rule, void *user);

/* ---- one computation for each example ---- */

/** The computation of one example, for mw_vmap: it fills out_y with tensors of `graph`, which it makes with the
 *  constructors from x. It may ask for gradients (mw_grad and the like) on the way. It may not make inputs, parameters,
 *  states or outputs, nor use tensors of another graph.
 *  graph   one of its own, for this call
 *  x       as given to mw_vmap, in that graph; those that are mapped without their first axis
 *  return  MW_OK, or a status to refuse with; it may describe it in *err */
typedef mw_status mw_vmap_function(void *user, mw_graph *graph, mw_tensor *const *x, mw_tensor **out_y, mw_error *err);

/** out_y[r][b] = y[r] of function(x[0][b], x[1], ..), for all b at once: vmap. With mw_grad inside it gives gradients
 *  of each example:
 *
 *     static mw_status gradients(void *user, mw_graph *graph, mw_tensor *const *x, mw_tensor **out_dw, mw_error *err)
 *     {
 *         (void)user, (void)graph;                                                   // x: weight, example, label
 *         mw_tensor *h = mw_matmul(mw_expand_dims(x[1], MW_AXES(0)), x[0], MW_TRANSPOSE_Y);
 *         return mw_grad(mw_cross_entropy(h, mw_expand_dims(x[2], MW_AXES(0))), x, 1, out_dw, err);
 *     }
 *     mw_tensor *x[] = {weight, images, labels}, *dw;                                // [O, I], [B, I], [B]
 *     mw_vmap(gradients, NULL, x, (const bool[]){false, true, true}, 3, &dw, 1, &err);   // [B, O, I]
 *
 *  function  called once, in this call
 *  x         count >= 1 tensors of one graph, of known extents
 *  mapped    [count]: x[i] is [B, ..], one element for each example; at least one is. The others are the same for all
 *  out_y     receives y_count tensors [B, ..]
 *  cost      operations of the library get a first axis: element-wise ones, matrix products, reductions, softmax and
 *            norms, moves, gathers from tables, and convolutions and poolings whose weight is the same for all. Any
 *            other operation is written B times, once for each example; the log hook is told which
 *  errors    those of the function; MW_ERROR_ARGUMENT if nothing is mapped or a result is of another graph;
 *            MW_ERROR_SHAPE if numbers of examples differ or are 0, or a tensor would have more than MW_RANK_MAX axes;
 *            MW_ERROR_UNSUPPORTED for loops, branches and lists over mapped values, and random_* beside them. Then all
 *            out_y are NULL
 *  vjp       that of the operations
 *  source    JAX's vmap */
MW_API mw_status mw_vmap(mw_vmap_function *function, void *user, mw_tensor *const *x, const bool *mapped, size_t count,
                         mw_tensor **out_y, size_t y_count, mw_error *err);

#ifdef __cplusplus
}
#endif
#endif
