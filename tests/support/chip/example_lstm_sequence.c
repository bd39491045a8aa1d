#include "training_programs.h"

#define main              example_lstm_sequence
#define mw_trainer_create training_capture
#define mw_program_create training_capture_program
#include "../../../examples/lstm_sequence.c"
