/* Runs a MIL text as it is, without any rewriting, on the model of the ANE. */
#ifndef TESTS_SUPPORT_CHIP_TEXT_RUN_H
#define TESTS_SUPPORT_CHIP_TEXT_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct text_port {
    const char *name;
    const float *data; /* rounded to fp16 on the way in */
    size_t count;
} text_port;

/* The output `y` of `count` elements; false, noted, if anything fails. profile: MW_ENGINE_PROFILE.
 *  statements  "tensor<fp16, [2]> y = relu(x = x);"
 *  inputs      "tensor<fp16, [2]> x" .. joined with commas in `signature` */
bool text_run(const char *profile, const char *signature, const char *statements, const text_port *inputs,
              size_t input_count, float *out, size_t count);

/* The same of one function of one number: "relu(x = x)". */
float text_of_one(const char *profile, const char *expression, float x);
/* And of two: "add(x = x, y = z)". */
float text_of_two(const char *profile, const char *expression, float x, float z);

#endif
