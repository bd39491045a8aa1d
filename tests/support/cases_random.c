/* Cases of ops/random.def. To cover a row: one builder if none fits, one line in the table. */
#include "support/op_case_rows.h"

const op_case_list op_cases_random = {"random", NULL, 0};
