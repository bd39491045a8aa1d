/* Random nets: any layer after any other, blocks in blocks to a depth of three. */
#include "net.h"

static int below(mw__random *random, int bound) { return (int)mw__random_below(random, (uint64_t)bound); }

static net_kind draw_kind(mw__random *random, bool inside)
{
    int sum = 0;
    for (int k = 0; k < NET_KINDS; k++)
        sum += inside && !net_row_of((net_kind)k)->in_blocks ? 0 : net_row_of((net_kind)k)->weight;
    int at = below(random, sum);
    for (int k = 0; k < NET_KINDS; k++) {
        at -= inside && !net_row_of((net_kind)k)->in_blocks ? 0 : net_row_of((net_kind)k)->weight;
        if (at < 0)
            return (net_kind)k;
    }
    return NET_TANH;
}

static int draw_size(net_kind kind, mw__random *random)
{
    switch (kind) {
    case NET_LOOP:
    case NET_WHILE:
    case NET_LIST:
        return 1 + below(random, 3);
    case NET_ATTENTION:
        return 1 + below(random, 2);
    default:
        return net_row_of(kind)->has_size ? 2 + below(random, 4) : 0;
    }
}

static void put(net *n, net_kind kind, int size, int depth)
{
    if (n->count < NET_LAYERS)
        n->layers[n->count++] = (net_layer){kind, size, depth};
}

/* Layers at a depth; `inside` a loop or branch. */
static void draw_layers(net *n, mw__random *random, int count, int depth, bool inside)
{
    for (int i = 0; i < count && n->count < NET_LAYERS - 8; i++) {
        net_kind kind = draw_kind(random, inside);
        if (net_row_of(kind)->is_block && depth >= 3)
            kind = NET_TANH;
        put(n, kind, draw_size(kind, random), depth);
        if (!net_row_of(kind)->is_block)
            continue;
        draw_layers(n, random, 1 + below(random, 3), depth + 1, inside || kind != NET_RECOMPUTE);
        if (kind == NET_COND) {
            put(n, NET_ELSE, 0, depth + 1);
            draw_layers(n, random, 1 + below(random, 2), depth + 1, true);
        }
    }
}

void net_draw(net *out, mw__random *random)
{
    *out = (net){.examples = 2 + below(random, 3), .steps = 1 + below(random, 3), .features = 2 + below(random, 4)};
    out->loss = (net_loss)below(random, NET_LOSSES);
    out->optimizer = (net_optimizer)below(random, NET_OPTIMIZERS);
    draw_layers(out, random, 1 + below(random, 5), 0, false);
}
