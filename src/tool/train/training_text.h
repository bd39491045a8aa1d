/* A language model that is trained on a text: mw finetune --text. */
#ifndef MW__TOOL_TRAIN_TRAINING_TEXT_H
#define MW__TOOL_TRAIN_TRAINING_TEXT_H

#include "tool/train/training.h"

/* Folder, tokenizer and text; t->data and t->batch. */
bool training_text_open(training *t);
/* t->graph and t->loss. */
bool training_text_build(training *t);
/* The weights of the folder, once the trainer is there. */
bool training_text_load(training *t);
/* At the end of an epoch: perplexity, bits a byte, tokens a second and a sample, to the metrics and the terminal. */
void training_text_report(training *t, const mw_progress *progress);
/* Whether a folder can be made there; and the folder. */
bool training_text_check_output(training *t, const char *path);
void training_text_write(training *t, const char *path, mw_error *err);
/* Whether weights have a second term: in fp16 alone the loss of language models leaves that of fp32. */
bool training_text_compensates(const training *t);
/* The rate where nobody says one. */
double training_text_rate(const training *t);
void training_text_close(training *t);

#endif
