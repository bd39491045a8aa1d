#include "training_programs.h"

#define main              example_custom_loop
#define mw_trainer_create training_capture
#define mw_program_create training_capture_program
#include "../../../examples/custom_loop.c"
