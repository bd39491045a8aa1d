/* Element-wise expressions as tests spell them, "mul(x, sigmoid(x))": as MIL in several ways, and in double precision.
 */
#ifndef TESTS_PASSES_EXPRESSION_H
#define TESTS_PASSES_EXPRESSION_H

#include <stdbool.h>
#include <stddef.h>

enum { EXPRESSION_NODES = 40, EXPRESSION_FORMS = 4 };

typedef struct expression_node {
    char kind[16]; /* an operation; "x"; "" = a number */
    double number;
    int operands[2]; /* -1 = none */
} expression_node;

/* Nodes behind their operands. */
typedef struct expression {
    expression_node nodes[EXPRESSION_NODES];
    int count;
    int pairs; /* sums and products, of which operands can change places */
} expression;

/* False, with a failed check, for one that is none. */
bool expression_parse(const char *text, expression *out);
/* The value of the last node. */
double expression_at(const expression *e, double x);
/* Statements that make y of x [3, 7]: bit i of `turned` changes the operands of pair i, constants have one of the
 * EXPRESSION_FORMS forms: a number, [1], [1, 1], a row of equal ones. */
void expression_write(const expression *e, unsigned turned, int form, char *out, size_t size);

#endif
