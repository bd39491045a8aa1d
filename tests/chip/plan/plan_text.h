/* Programs of a few operations for the tests of plans. */
#ifndef TESTS_CHIP_PLAN_PLAN_TEXT_H
#define TESTS_CHIP_PLAN_PLAN_TEXT_H

#include <millwright/chip_plan.h>

/* A constant whose numbers are in a file that is not there; a reference to none, as plans ask no number. */
#define BLOB(dtype, name, shape)                                                                                       \
    "tensor<" dtype ", " shape "> " name " = const()[val = tensor<" dtype ", " shape                                   \
    ">(BLOBFILE(path = string(\"@model_path/w.bin\"), offset = uint64(64)))]; "
#define HALF(name, shape) BLOB("fp16", name, shape)

/* The plan of main(inputs) { body } -> (outputs), as it stands unless the options say otherwise; options NULL are the
 * defaults. Notes a failure and returns NULL. */
mw_chip_plan *plan_of_text(const char *inputs, const char *body, const char *outputs, mw_chip chip,
                           const mw_chip_plan_options *options);
/* The default options with as_it_is. */
mw_chip_plan_options plan_options(void);
/* What became of the operation that makes the tensor; NULL if there is none. */
const mw_chip_plan_op *plan_op(const mw_chip_plan *plan, const char *tensor);
const mw_chip_layer *plan_layer(const mw_chip_plan *plan, const char *name);
const mw_chip_value *plan_value(const mw_chip_plan *plan, const char *name);

#endif
