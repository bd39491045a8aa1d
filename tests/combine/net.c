/* Nets as text, and what is in them. */
#include "net.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const net_row rows[NET_KINDS] = {
    [NET_DENSE] = {"dense", true, false, 10, true},     [NET_FIXED] = {"fixed", true, false, 5, true},
    [NET_CONV] = {"conv", true, false, 4, true},        [NET_CONV2] = {"conv2d", true, false, 2, true},
    [NET_POOL] = {"pool", false, false, 2, true},       [NET_BATCH_NORM] = {"bn", false, false, 5, true},
    [NET_LAYER_NORM] = {"ln", false, false, 3, true},   [NET_LSTM] = {"lstm", true, false, 2, true},
    [NET_GRU] = {"gru", true, false, 2, true},          [NET_RNN] = {"rnn", true, false, 2, true},
    [NET_ATTENTION] = {"attn", true, false, 2, true},   [NET_EMBED] = {"embed", false, false, 3, true},
    [NET_DROPOUT] = {"drop", false, false, 4, true},    [NET_NOISE] = {"noise", false, false, 2, true},
    [NET_SHARED] = {"shared", false, false, 3, true},   [NET_OUTER] = {"outer", false, false, 4, true},
    [NET_TANH] = {"tanh", false, false, 6, true},       [NET_RELU] = {"relu", false, false, 3, true},
    [NET_GELU] = {"gelu", false, false, 2, true},       [NET_SIGMOID] = {"sigmoid", false, false, 2, true},
    [NET_SOFTMAX] = {"softmax", false, false, 1, true}, [NET_LOOP] = {"loop", true, true, 4, true},
    [NET_WHILE] = {"while", true, true, 4, true},       [NET_COND] = {"cond", false, true, 4, true},
    [NET_STOP] = {"stop", false, false, 1, true},       [NET_CUSTOM] = {"custom", false, false, 2, true},
    [NET_ELSE] = {"else", false, false, 0, true},       [NET_LIST] = {"list", true, true, 3, true},
    [NET_RECOMPUTE] = {"seg", false, true, 9, true},
};

static const char *const optimizers[NET_OPTIMIZERS] = {"sgd", "momentum", "adam", "rmsprop", "lion", "muon"};

const net_row *net_row_of(net_kind kind) { return &rows[kind]; }

int net_end(const net *n, int at)
{
    int end = at + 1;
    while (end < n->count && n->layers[end].depth > n->layers[at].depth)
        end++;
    return end;
}

bool net_has(const net *n, net_kind kind)
{
    for (int i = 0; i < n->count; i++)
        if (n->layers[i].kind == kind)
            return true;
    return false;
}

bool net_has_inside(const net *n, net_kind kind, net_kind block)
{
    for (int at = 0; at < n->count; at++)
        for (int i = at + 1; n->layers[at].kind == block && i < net_end(n, at); i++)
            if (n->layers[i].kind == kind)
                return true;
    return false;
}

static bool sets_width(net_kind kind)
{
    return kind == NET_DENSE || kind == NET_FIXED || kind == NET_CONV || kind == NET_LSTM || kind == NET_GRU ||
           kind == NET_RNN;
}

int net_width_at(const net *n, int at)
{
    int width[NET_DEPTH + 1] = {n->features}; /* by depth, of the value that the next layer there gets */
    for (int i = 0; i < at; i++) {
        const net_layer *l = &n->layers[i];
        if (sets_width(l->kind))
            width[l->depth] = l->size;
        if (l->kind == NET_ELSE && l->depth > 0)
            width[l->depth] = width[l->depth - 1];
        width[l->depth + 1] = width[l->depth];
    }
    return width[n->layers[at].depth];
}

/* ---- text ----
 * net   = examples "x" steps "x" features " " loss " " optimizer " " layer ("," layer)* ;
 * layer = name size? ("(" layer ("," layer)* ")")? */

void net_print(const net *n, char out[NET_TEXT])
{
    size_t used = (size_t)snprintf(out, NET_TEXT, "%dx%dx%d %s %s ", n->examples, n->steps, n->features,
                                   net_loss_word(n->loss), optimizers[n->optimizer]);
    for (int i = 0; i < n->count && used + 64 < NET_TEXT; i++) {
        const net_layer *l = &n->layers[i];
        const int next = i + 1 < n->count ? n->layers[i + 1].depth : 0;
        used += (size_t)snprintf(out + used, NET_TEXT - used, "%s", rows[l->kind].name);
        if (rows[l->kind].has_size)
            used += (size_t)snprintf(out + used, NET_TEXT - used, "%d", l->size);
        if (next > l->depth)
            out[used++] = '(';
        else if (rows[l->kind].is_block)
            used += (size_t)snprintf(out + used, NET_TEXT - used, "()");
        for (int k = l->depth; k > next; k--)
            out[used++] = ')';
        if (next <= l->depth && i + 1 < n->count)
            out[used++] = ',';
    }
    out[used] = '\0';
}

static int word_of(const char **text, const char *const *words, int count)
{
    int found = -1;
    for (int i = 0; i < count; i++) {
        const size_t size = strlen(words[i]);
        if (strncmp(*text, words[i], size) == 0 && (found < 0 || size > strlen(words[found])))
            found = i;
    }
    if (found >= 0)
        *text += strlen(words[found]);
    return found;
}

static bool skip(const char **text, char c)
{
    if (**text != c)
        return false;
    (*text)++;
    return true;
}

static bool parse_layer(net *out, const char **text, int depth)
{
    const char *names[NET_KINDS];
    for (int k = 0; k < NET_KINDS; k++)
        names[k] = rows[k].name;
    const int kind = word_of(text, names, NET_KINDS);
    if (kind < 0 || out->count >= NET_LAYERS || depth >= NET_DEPTH)
        return false;
    net_layer *l = &out->layers[out->count++];
    *l = (net_layer){.kind = (net_kind)kind, .depth = depth};
    char *end = NULL;
    l->size = (int)strtol(*text, &end, 10);
    *text = end;
    return !rows[kind].has_size || l->size > 0;
}

static bool parse_layers(net *out, const char **text)
{
    int depth = 0;
    bool more = true;
    while (more) {
        if (!parse_layer(out, text, depth))
            return false;
        if (skip(text, '(')) {
            depth++;
            more = !skip(text, ')');
            if (more)
                continue;
            depth--;
        }
        while (depth > 0 && skip(text, ')'))
            depth--;
        more = skip(text, ',');
    }
    return depth == 0;
}

const char *net_parse(net *out, const char *text)
{
    int used = 0;
    *out = (net){0};
    if (sscanf(text, "%dx%dx%d %n", &out->examples, &out->steps, &out->features, &used) != 3 || used == 0)
        return NULL;
    text += used;
    const char *losses[NET_LOSSES];
    for (int i = 0; i < NET_LOSSES; i++)
        losses[i] = net_loss_word((net_loss)i);
    const int loss = word_of(&text, losses, NET_LOSSES);
    const bool spaced = skip(&text, ' ');
    const int optimizer = word_of(&text, optimizers, NET_OPTIMIZERS);
    if (loss < 0 || !spaced || optimizer < 0 || !skip(&text, ' '))
        return NULL;
    out->loss = (net_loss)loss;
    out->optimizer = (net_optimizer)optimizer;
    return parse_layers(out, &text) ? text : NULL;
}
