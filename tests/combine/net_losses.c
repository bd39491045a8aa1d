/* The losses of nets: a row for each, with the words that a line of a case has. */
#include "net.h"

#include <millwright/learn.h>
#include <string.h>

/* Of the result z [N, NET_CLASSES] and the input t: labels [N], or rows like z of 0.25 to 0.75. */
typedef mw_tensor *make_loss(mw_tensor *z, mw_tensor *t);

/* So that some predictions are confident, which losses treat apart. */
static mw_tensor *confident(mw_tensor *z) { return mw_mul_scalar(z, 5.0); }

#define LOSS(name, expression)                                                                                         \
    static mw_tensor *name(mw_tensor *z, mw_tensor *t) { return expression; }
LOSS(huber, mw_huber(z, t, 0.5F))
LOSS(ce, mw_cross_entropy(confident(z), t))
LOSS(bce, mw_binary_cross_entropy(z, t, NULL))
LOSS(focal, mw_focal(confident(z), t, 2.0F))
LOSS(binary_focal, mw_binary_focal(z, t, 0.25F, 1.5F))
LOSS(dice, mw_dice(mw_sigmoid(z), t, MW_AXES(1), 1.0F))
LOSS(pinball, mw_pinball(z, t, 0.3F))
LOSS(cosine, mw_mse(mw_normalize(z, -1, 0.01F), mw_normalize(t, -1, 0.01F)))
LOSS(triplet, mw_triplet(z, t, mw_neg(t), 1.0F))
LOSS(info_nce, mw_info_nce(z, t, 0.5F))
LOSS(nt_xent, mw_nt_xent(z, t, 0.5F))

/* Three steps of one label each. */
static mw_tensor *ctc(mw_tensor *z, mw_tensor *t)
{
    mw_tensor *const steps[3] = {z, mw_tanh(z), mw_mul_scalar(z, -0.5)};
    return mw_ctc(mw_log_softmax(mw_stack(steps, 3, 1), -1), mw_expand_dims(t, MW_AXES(1)), NULL, NULL,
                  NET_CLASSES - 1);
}

static const struct {
    const char *word;
    make_loss *make;
    bool takes_labels;
} rows[NET_LOSSES] = {
    [NET_MSE] = {"mse", mw_mse, false},
    [NET_HUBER] = {"huber", huber, false},
    [NET_CE] = {"ce", ce, true},
    [NET_CE_SOFT] = {"cesoft", ce, false},
    [NET_BCE] = {"bce", bce, false},
    [NET_FOCAL] = {"focal", focal, true},
    [NET_BINARY_FOCAL] = {"bfocal", binary_focal, false},
    [NET_DICE] = {"dice", dice, false},
    [NET_PINBALL] = {"pinball", pinball, false},
    [NET_COSINE] = {"cosine", cosine, false},
    [NET_TRIPLET] = {"triplet", triplet, false},
    [NET_INFO_NCE] = {"infonce", info_nce, false},
    [NET_NT_XENT] = {"ntxent", nt_xent, false},
    [NET_CTC] = {"ctc", ctc, true},
};

const char *net_loss_word(net_loss loss) { return rows[loss].word; }

bool net_takes_labels(const net *n) { return rows[n->loss].takes_labels; }

mw_tensor *net_add_loss(const net *n, mw_tensor *z)
{
    mw_graph *graph = mw_tensor_graph(z);
    const int64_t examples = mw_tensor_shape(z).dim[0];
    mw_tensor *t = net_takes_labels(n) ? mw_input(graph, "t", MW_I32, MW_SHAPE(examples))
                                       : mw_input(graph, "t", MW_F32, MW_SHAPE(examples, NET_CLASSES));
    return rows[n->loss].make(z, t);
}
