/* MIL text in the form in which ANEForge emits it: values t0, t1 .. in order, helper constants behind their name,
 * scalars as hexadecimal fp16, matmul with inline flags, an input for each thing that is fed. */
#ifndef TESTS_CHIP_PRIOR_ART_H
#define TESTS_CHIP_PRIOR_ART_H

#include <stddef.h>
#include <stdint.h>

enum { PRIOR_BATCH = 128, PRIOR_PIXELS = 784, PRIOR_HIDDEN = 256, PRIOR_CLASSES = 10, PRIOR_PARAMETERS = 4 };

/* A state and where it is in the text: weight, first and second moment of one parameter. */
typedef struct prior_parameter {
    int rows, columns;
    char in[3][16], out[3][16];
} prior_parameter;

/* A step of training by Adam on the device, with every state an input and an output. */
typedef struct prior_step {
    char *text;
    char x[16], target[16], rate[16], logits[16];
    prior_parameter parameters[PRIOR_PARAMETERS];
} prior_step;

/* The MLP 784-256-10 with exact GELU and softmax cross-entropy. NULL text after a failed allocation.
 *  epsilon  of Adam, as fp16 has it: 1e-8 is 0 */
prior_step prior_step_make(double loss_scale, double epsilon);
void prior_step_free(prior_step *step);

#endif
