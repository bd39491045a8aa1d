/* Writes the text, statement by statement. */
#include "prior_art.h"

#include "base/number/fp16.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LIMIT = 1 << 16 };

typedef struct node {
    int id, rows, columns;
} node;

typedef struct emitter {
    char *head, *body; /* the inputs, the statements */
    size_t head_used, body_used;
    int next;
} emitter;

static void say(char *text, size_t *used, const char *format, ...) __attribute__((format(printf, 3, 4)));
static void say(char *text, size_t *used, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    *used += (size_t)vsnprintf(text + *used, LIMIT - *used, format, arguments);
    va_end(arguments);
}

static node input(emitter *e, int rows, int columns)
{
    const node n = {e->next++, rows, columns};
    say(e->head, &e->head_used, "%stensor<fp16, [%d, %d]> t%d", e->head_used > 0 ? ", " : "", rows, columns, n.id);
    return n;
}

/* A statement with the next name; `arguments` is all between its brackets. */
static node statement(emitter *e, int rows, int columns, const char *operation, const char *arguments)
{
    const node n = {e->next++, rows, columns};
    say(e->body, &e->body_used, "        tensor<fp16, [%d, %d]> t%d = %s(%s)[name = string(\"t%d\")];\n", rows, columns,
        n.id, operation, arguments, n.id);
    return n;
}

static node unary(emitter *e, const char *operation, node x)
{
    char arguments[32];
    snprintf(arguments, sizeof arguments, "x = t%d", x.id);
    return statement(e, x.rows, x.columns, operation, arguments);
}

static node binary(emitter *e, const char *operation, node x, node y)
{
    char arguments[48];
    snprintf(arguments, sizeof arguments, "x = t%d, y = t%d", x.id, y.id);
    return statement(e, x.rows > y.rows ? x.rows : y.rows, x.columns > y.columns ? x.columns : y.columns, operation,
                     arguments);
}

/* x * k, x + k: the number is a constant of the name that the statement is about to get. */
static node scalar(emitter *e, const char *operation, node x, double k)
{
    char arguments[48];
    say(e->body, &e->body_used, "        fp16 t%d_k = const()[name = string(\"t%d_k\"), val = fp16(%a)];\n", e->next,
        e->next, (double)mw__fp16_to_float(mw__fp16_from_double(k)));
    snprintf(arguments, sizeof arguments, "x = t%d, y = t%d_k", x.id, e->next);
    return statement(e, x.rows, x.columns, operation, arguments);
}

static node matmul(emitter *e, node x, node y)
{
    char arguments[96];
    snprintf(arguments, sizeof arguments, "transpose_x = bool(false), transpose_y = bool(false), x = t%d, y = t%d",
             x.id, y.id);
    return statement(e, x.rows, y.columns, "matmul", arguments);
}

static node transpose(emitter *e, node x)
{
    char arguments[48];
    say(e->body, &e->body_used,
        "        tensor<int32, [2]> t%d_p = const()[name = string(\"t%d_p\"), val = tensor<int32, [2]>([1, 0])];\n",
        e->next, e->next);
    snprintf(arguments, sizeof arguments, "perm = t%d_p, x = t%d", e->next, x.id);
    return statement(e, x.columns, x.rows, "transpose", arguments);
}

static node sum_rows(emitter *e, node x)
{
    char arguments[80];
    say(e->body, &e->body_used,
        "        tensor<int32, [1]> t%d_ax = const()[name = string(\"t%d_ax\"), val = tensor<int32, [1]>([0])];\n"
        "        bool t%d_kd = const()[name = string(\"t%d_kd\"), val = bool(true)];\n",
        e->next, e->next, e->next, e->next);
    snprintf(arguments, sizeof arguments, "axes = t%d_ax, keep_dims = t%d_kd, x = t%d", e->next, e->next, x.id);
    return statement(e, 1, x.columns, "reduce_sum", arguments);
}

static node gelu(emitter *e, node x)
{
    char arguments[48];
    say(e->body, &e->body_used, "        string t%d_m = const()[name = string(\"t%d_m\"), val = string(\"EXACT\")];\n",
        e->next, e->next);
    snprintf(arguments, sizeof arguments, "mode = t%d_m, x = t%d", e->next, x.id);
    return statement(e, x.rows, x.columns, "gelu", arguments);
}

static node softmax(emitter *e, node x)
{
    char arguments[48];
    say(e->body, &e->body_used, "        int32 t%d_ax = const()[name = string(\"t%d_ax\"), val = int32(1)];\n", e->next,
        e->next);
    snprintf(arguments, sizeof arguments, "axis = t%d_ax, x = t%d", e->next, x.id);
    return statement(e, x.rows, x.columns, "softmax", arguments);
}

/* g (0.5 (1 + erf(x / sqrt 2)) + x exp(-x^2 / 2) / sqrt(2 pi)) */
static node gelu_backward(emitter *e, node g, node x)
{
    const double pi = 3.14159265358979323846;
    const node erf = unary(e, "erf", scalar(e, "mul", x, 1.0 / sqrt(2.0)));
    const node cdf = scalar(e, "mul", scalar(e, "add", erf, 1.0), 0.5);
    const node bell = unary(e, "exp", scalar(e, "mul", binary(e, "mul", x, x), -0.5));
    const node pdf = scalar(e, "mul", binary(e, "mul", x, bell), 1.0 / sqrt(2.0 * pi));
    return binary(e, "mul", g, binary(e, "add", cdf, pdf));
}

typedef struct parameter {
    node state[3], next[3]; /* weight, first and second moment */
} parameter;

static parameter declare(emitter *e, int rows, int columns)
{
    parameter p;
    for (int i = 0; i < 3; i++)
        p.state[i] = input(e, rows, columns);
    return p;
}

/* m' = m b1 + g (1 - b1); v' = v b2 + g^2 (1 - b2); w' = w - (rate m') / (sqrt(v') + epsilon) */
static void adam(emitter *e, parameter *p, node g, node rate, double epsilon)
{
    p->next[1] = binary(e, "add", scalar(e, "mul", p->state[1], 0.9), scalar(e, "mul", g, 1.0 - 0.9));
    p->next[2] =
        binary(e, "add", scalar(e, "mul", p->state[2], 0.999), scalar(e, "mul", binary(e, "mul", g, g), 1.0 - 0.999));
    const node below = scalar(e, "add", unary(e, "sqrt", p->next[2]), epsilon);
    p->next[0] = binary(e, "sub", p->state[0], binary(e, "real_div", binary(e, "mul", rate, p->next[1]), below));
}

static void put_name(char out[16], node n) { snprintf(out, 16, "t%d", n.id); }

/* Forward, backward and update; the names go into the step, the logits and all new states into the outputs. */
static void write_step(emitter *e, prior_step *step, double loss_scale, double epsilon, char *outputs, size_t *used)
{
    const node x = input(e, PRIOR_BATCH, PRIOR_PIXELS), target = input(e, PRIOR_BATCH, PRIOR_CLASSES);
    parameter p[PRIOR_PARAMETERS] = {declare(e, PRIOR_PIXELS, PRIOR_HIDDEN), declare(e, 1, PRIOR_HIDDEN),
                                     declare(e, PRIOR_HIDDEN, PRIOR_CLASSES), declare(e, 1, PRIOR_CLASSES)};
    const node rate = input(e, 1, 1);
    const node z = binary(e, "add", matmul(e, x, p[0].state[0]), p[1].state[0]), h = gelu(e, z);
    const node logits = binary(e, "add", matmul(e, h, p[2].state[0]), p[3].state[0]);
    const node seed = scalar(e, "mul", binary(e, "sub", softmax(e, logits), target), loss_scale / PRIOR_BATCH);
    const node dz = gelu_backward(e, matmul(e, seed, transpose(e, p[2].state[0])), z);
    adam(e, &p[0], matmul(e, transpose(e, x), dz), rate, epsilon);
    adam(e, &p[1], sum_rows(e, dz), rate, epsilon);
    adam(e, &p[2], matmul(e, transpose(e, h), seed), rate, epsilon);
    adam(e, &p[3], sum_rows(e, seed), rate, epsilon);
    put_name(step->x, x), put_name(step->target, target), put_name(step->rate, rate), put_name(step->logits, logits);
    say(outputs, used, "t%d", logits.id);
    for (int i = 0; i < PRIOR_PARAMETERS; i++) {
        step->parameters[i].rows = p[i].state[0].rows, step->parameters[i].columns = p[i].state[0].columns;
        for (int k = 0; k < 3; k++) {
            put_name(step->parameters[i].in[k], p[i].state[k]), put_name(step->parameters[i].out[k], p[i].next[k]);
            say(outputs, used, ", t%d", p[i].next[k].id);
        }
    }
}

prior_step prior_step_make(double loss_scale, double epsilon)
{
    prior_step step = {0};
    emitter e = {.head = calloc(1, LIMIT), .body = calloc(1, LIMIT)};
    char *outputs = calloc(1, LIMIT), *text = calloc(4, LIMIT);
    size_t used = 0;
    if (e.head != NULL && e.body != NULL && outputs != NULL && text != NULL) {
        write_step(&e, &step, loss_scale, epsilon, outputs, &used);
        snprintf(text, (size_t)4 * LIMIT,
                 "program(1.3)\n[buildInfo = dict<string, string>({{\"coremlc-component-MIL\", \"3520.4.1\"}, "
                 "{\"coremlc-version\", \"3520.5.1\"}})]\n{\n    func main<ios18>(%s) {\n%s    } -> (%s);\n}\n",
                 e.head, e.body, outputs);
        step.text = text;
    } else {
        free(text);
    }
    free(e.head);
    free(e.body);
    free(outputs);
    return step;
}

void prior_step_free(prior_step *step) { free(step->text); }
