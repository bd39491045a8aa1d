/* Makers and uses of options that test_options.c has in its table, and that have no place in it. */
#ifndef TESTS_API_OPTION_WORLD_H
#define TESTS_API_OPTION_WORLD_H

#include <millwright/millwright.h>

/* What options point to. */
typedef struct world {
    mw_graph *graph;
    mw_tensor *x, *y, *image, *kernel, *logits, *labels, *loss;
    mw_dataset *data;
    mw_trainer *trainer;
    mw_error err; /* of the call */
} world;

/* Fills the struct; and uses it, true if it was accepted, else with w->err set. */
void make_draw(world *w, void *out);
bool use_draw(world *w, const void *options);
void make_plot(world *w, void *out);
bool use_plot(world *w, const void *options);
void make_report(world *w, void *out);
bool use_report(world *w, const void *options);
void make_range(world *w, void *out);
bool use_range(world *w, const void *options);
void make_train_tokens(world *w, void *out);
bool use_train_tokens(world *w, const void *options);
void make_encode(world *w, void *out);
bool use_encode(world *w, const void *options);
void make_text_config(world *w, void *out);
bool use_text_config(world *w, const void *options);
void make_text_graph(world *w, void *out);
bool use_text_graph(world *w, const void *options);
void make_text_model(world *w, void *out);
bool use_text_model(world *w, const void *options);
void make_generate(world *w, void *out);
bool use_generate(world *w, const void *options);
void make_embed(world *w, void *out);
bool use_embed(world *w, const void *options);
void make_text_save(world *w, void *out);
bool use_text_save(world *w, const void *options);
void make_text_data(world *w, void *out);
bool use_text_data(world *w, const void *options);
void make_table_fit(world *w, void *out);
bool use_table_fit(world *w, const void *options);
void make_app(world *w, void *out);
bool use_app(world *w, const void *options);
void make_table_stream(world *w, void *out);
bool use_table_stream(world *w, const void *options);
void make_augment(world *w, void *out);
bool use_augment(world *w, const void *options);
void make_window(world *w, void *out);
bool use_window(world *w, const void *options);
void make_mix(world *w, void *out);
bool use_mix(world *w, const void *options);
void make_sounds(world *w, void *out);
bool use_sounds(world *w, const void *options);
void make_sound_change(world *w, void *out);
bool use_sound_change(world *w, const void *options);
void make_log_mel(world *w, void *out);
bool use_log_mel(world *w, const void *options);
void make_divide(world *w, void *out);
bool use_divide(world *w, const void *options);
void make_normalize(world *w, void *out);
bool use_normalize(world *w, const void *options);

#endif
