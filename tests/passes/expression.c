/* Reading, writing and evaluating. */
#include "expression.h"

#include "support/check.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- reading: expression = "x" | number | kind "(" expression { "," expression } ")" ---- */

static const char *read_node(const char *at, expression *e, int *out);

static const char *read_operands(const char *at, expression *e, expression_node *node)
{
    for (int i = 0; i < 2 && at != NULL && (*at == '(' || *at == ','); i++)
        at = read_node(at + 1, e, &node->operands[i]);
    return at != NULL && *at == ')' ? at + 1 : NULL;
}

static const char *read_node(const char *at, expression *e, int *out)
{
    expression_node node = {.operands = {-1, -1}};
    at += strspn(at, " ");
    if (isdigit((unsigned char)*at) || *at == '-') {
        char *end;
        node.number = strtod(at, &end);
        at = end;
    } else {
        const size_t length = strcspn(at, "(,) ");
        snprintf(node.kind, sizeof node.kind, "%.*s", (int)length, at);
        at += length;
        if (*at == '(')
            at = read_operands(at, e, &node);
    }
    if (at == NULL || e->count == EXPRESSION_NODES)
        return NULL;
    e->pairs += strcmp(node.kind, "add") == 0 || strcmp(node.kind, "mul") == 0;
    *out = e->count;
    e->nodes[e->count++] = node;
    return at;
}

bool expression_parse(const char *text, expression *out)
{
    int last;
    *out = (expression){.count = 0};
    const char *end = read_node(text, out, &last);
    return check_note(end != NULL && *end == '\0', __FILE__, __LINE__, "no expression: %s", text);
}

/* ---- evaluating ---- */

static double sigmoid(double x) { return 1.0 / (1.0 + exp(-x)); }
static double clip(double x, double low, double high) { return fmin(fmax(x, low), high); }

static double evaluate(const char *kind, double x, double y)
{
    static const struct {
        const char *kind;
        double (*at)(double x);
    } plain[] = {{"exp", exp},         {"log", log},   {"tanh", tanh}, {"erf", erf},
                 {"sigmoid", sigmoid}, {"sqrt", sqrt}, {"abs", fabs}};
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
        if (strcmp(kind, plain[i].kind) == 0)
            return plain[i].at(x);
    if (strcmp(kind, "add") == 0)
        return x + y;
    if (strcmp(kind, "sub") == 0)
        return x - y;
    if (strcmp(kind, "mul") == 0)
        return x * y;
    if (strcmp(kind, "real_div") == 0)
        return x / y;
    if (strcmp(kind, "pow") == 0)
        return pow(x, y);
    if (strcmp(kind, "maximum") == 0)
        return fmax(x, y);
    if (strcmp(kind, "minimum") == 0)
        return fmin(x, y);
    if (strcmp(kind, "square") == 0)
        return x * x;
    if (strcmp(kind, "relu") == 0)
        return fmax(x, 0);
    if (strcmp(kind, "relu6") == 0)
        return clip(x, 0, 6);
    if (strcmp(kind, "softplus") == 0)
        return fmax(x, 0) + log1p(exp(-fabs(x)));
    return strcmp(kind, "inverse") == 0 ? 1 / x : NAN;
}

double expression_at(const expression *e, double x)
{
    double values[EXPRESSION_NODES];
    for (int i = 0; i < e->count; i++) {
        const expression_node *node = &e->nodes[i];
        const double a = node->operands[0] >= 0 ? values[node->operands[0]] : 0;
        const double b = node->operands[1] >= 0 ? values[node->operands[1]] : 0;
        values[i] = node->kind[0] == '\0'          ? (double)(float)node->number
                    : strcmp(node->kind, "x") == 0 ? x
                                                   : evaluate(node->kind, a, b);
    }
    return values[e->count - 1];
}

/* ---- writing ---- */

typedef struct writing {
    char *out;
    size_t size, length;
} writing;

__attribute__((format(printf, 2, 3))) static void put(writing *w, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    w->length += (size_t)vsnprintf(w->out + w->length, w->size - w->length, format, list);
    va_end(list);
    CHECK(w->length < w->size);
}

static void put_number(writing *w, int at, double number, int form)
{
    const double n = (double)(float)number;
    if (form == 0)
        put(w, "fp32 v%d = const()[val = fp32(%.9g)];", at, n);
    else if (form == 1)
        put(w, "tensor<fp32, [1]> v%d = const()[val = tensor<fp32, [1]>([%.9g])];", at, n);
    else if (form == 2)
        put(w, "tensor<fp32, [1, 1]> v%d = const()[val = tensor<fp32, [1, 1]>([[%.9g]])];", at, n);
    else
        put(w, "tensor<fp32, [7]> v%d = const()[val = tensor<fp32, [7]>([%.9g, %.9g, %.9g, %.9g, %.9g, %.9g, %.9g])];",
            at, n, n, n, n, n, n, n);
}

static const char *name_of(const expression *e, int at, char buffer[16])
{
    snprintf(buffer, 16, strcmp(e->nodes[at].kind, "x") == 0 ? "x" : at == e->count - 1 ? "y" : "v%d", at);
    return buffer;
}

static void put_operation(writing *w, const expression *e, int at, bool turned)
{
    char name[16], x[16], y[16];
    const expression_node *node = &e->nodes[at];
    const int one = turned ? 1 : 0;
    name_of(e, node->operands[one], x);
    put(w, "tensor<fp32, [3, 7]> %s = %s(", name_of(e, at, name), node->kind);
    if (strcmp(node->kind, "log") == 0)
        put(w, "epsilon = fp32(1e-45), ");
    if (strcmp(node->kind, "inverse") == 0)
        put(w, "epsilon = fp32(1e-45), ");
    put(w, "x = %s", x);
    if (node->operands[1] >= 0)
        put(w, ", y = %s", name_of(e, node->operands[1 - one], y));
    put(w, ");\n");
}

void expression_write(const expression *e, unsigned turned, int form, char *out, size_t size)
{
    writing w = {.out = out, .size = size};
    int pair = 0;
    out[0] = '\0';
    for (int i = 0; i < e->count; i++) {
        const expression_node *node = &e->nodes[i];
        const bool turns = strcmp(node->kind, "add") == 0 || strcmp(node->kind, "mul") == 0;
        if (node->kind[0] == '\0')
            put_number(&w, i, node->number, form);
        else if (strcmp(node->kind, "x") != 0)
            put_operation(&w, e, i, turns && (turned >> pair & 1) != 0);
        pair += turns;
    }
}
