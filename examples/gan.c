/* A generator and a discriminator, trained in turns by two trainers on one device state, learn the eight clusters of a
 * ring. The discriminator is a layer that is applied twice, to what is real and to what is made, and is penalized for
 * its slope at what is real, a gradient inside its loss. Prints how many clusters the generator finds, and that no
 * weight crossed to the host while they played.
 *
 * source: Goodfellow et al. 2014, "Generative Adversarial Nets"; Mescheder et al. 2018, "Which Training Methods for
 * GANs do actually Converge?" */
#include "options.h"

#include <math.h>

static const double GAMMA = 0.1; /* of the penalty */
enum { N = 256, Z = 8, H = 64, MODES = 8, DRAWN = 8 };

/* z [N, Z] -> [N, 2] */
static mw_tensor *generator(mw_tensor *z)
{
    mw_tensor *h = mw_relu(mw_dense(z, H, "g.1"));
    h = mw_relu(mw_dense(h, H, "g.2"));
    return mw_dense(h, 2, "g.3");
}

/* [N, 2] -> [N, 1]: positive for what is real */
static mw_tensor *discriminator(void *user, mw_graph *graph, const char *name, mw_tensor *const *x, size_t count)
{
    (void)user, (void)graph, (void)name, (void)count;
    mw_tensor *h = mw_leaky_relu(mw_dense(x[0], H, "d.1"), 0.2f);
    h = mw_leaky_relu(mw_dense(h, H, "d.2"), 0.2f);
    return mw_dense(h, 1, "d.3");
}

static mw_tensor *mean_softplus(mw_tensor *x) { return mw_reduce_mean(mw_softplus(x), MW_ALL_AXES, false); }

/* Of the player that moves "g.*" or "d.*"; what the other has is frozen, and the same memory. */
static mw_trainer *player(const example_options *o, bool generates, mw_trainer *share, mw_error *err)
{
    mw_graph *graph = mw_graph_create(NULL, err);
    mw_layer *judge = mw_layer_create(graph, "d", discriminator, NULL);
    mw_tensor *made = generator(mw_noise_normal(graph, MW_F32, MW_SHAPE(N, Z), 0.0f, 1.0f, "z"));
    mw_tensor *verdict = mw_layer_apply_one(judge, made), *loss = mean_softplus(mw_neg(verdict));
    if (!generates) {
        mw_tensor *real = mw_input(graph, "real", MW_F32, MW_SHAPE(N, 2));
        mw_tensor *trust = mw_layer_apply_one(judge, real), *slope;
        mw_grad(mw_reduce_sum(trust, MW_ALL_AXES, false), &real, 1, &slope, err);
        mw_tensor *steep = mw_reduce_sum(mw_square(slope), MW_ALL_AXES, false);
        loss = mw_add(mean_softplus(verdict), mean_softplus(mw_neg(trust)));
        loss = mw_add(loss, mw_mul_scalar(steep, GAMMA / (2.0 * N)));
    }
    mw_parameter_group frozen = mw_parameter_group_frozen(generates ? "d.*" : "g.*");
    mw_optimizer adam = mw_adam(o->learning_rate);
    mw_optimizer_set(&adam, MW_OPTIMIZER_BETA1, 0.5);
    mw_trainer_options options = mw_trainer_defaults(loss, adam);
    options.groups = &frozen;
    options.group_count = 1;
    options.compile.share.trainer = share;
    options.compile.device = o->device;
    options.compile.seed = o->seed;
    options.compile.threads = (int)o->threads;
    mw_trainer *trainer = mw_trainer_create(&options, err);
    mw_graph_destroy(graph);
    return trainer;
}

/* The generator by itself, on the weights of the trainers. */
static mw_program *painter(mw_trainer *trainer, const example_options *o, mw_error *err)
{
    mw_graph *graph = mw_graph_create(NULL, err);
    mw_output(generator(mw_input(graph, "z", MW_F32, MW_SHAPE(N, Z))), "points");
    mw_compile_options options = mw_compile_defaults();
    options.device = o->device;
    options.threads = (int)o->threads;
    options.share.trainer = trainer;
    mw_program *program = mw_program_create(graph, &options, err);
    mw_graph_destroy(graph);
    return program;
}

static double uniform(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return ((double)(*state >> 11) + 0.5) / 9007199254740992.0;
}

static float normal(uint64_t *state)
{
    const double radius = sqrt(-2.0 * log(uniform(state)));
    return (float)(radius * cos(6.283185307179586 * uniform(state)));
}

static void center(int mode, float out[2])
{
    out[0] = cosf(6.2831853f * (float)mode / MODES);
    out[1] = sinf(6.2831853f * (float)mode / MODES);
}

static void draw_real(float *points, uint64_t *state)
{
    for (int i = 0; i < N; i++) {
        float at[2];
        center((int)(uniform(state) * MODES), at);
        points[2 * i] = at[0] + 0.05f * normal(state);
        points[2 * i + 1] = at[1] + 0.05f * normal(state);
    }
}

/* A cluster is found if it has a quarter of its share, within four deviations. */
static void judge(mw_program *program, uint64_t *state, mw_error *err)
{
    static float z[N * Z], points[2 * N];
    int hits[MODES] = {0}, near = 0, found = 0;
    for (int run = 0; run < DRAWN; run++) {
        for (int i = 0; i < N * Z; i++)
            z[i] = normal(state);
        mw_program_write(program, "z", MW_F32, z, (size_t)N * Z, err);
        mw_program_run(program, err);
        mw_program_read(program, "points", MW_F32, points, 2 * (size_t)N, err);
        for (int i = 0; i < N; i++)
            for (int mode = 0; mode < MODES; mode++) {
                float at[2];
                center(mode, at);
                const bool hit = hypotf(points[2 * i] - at[0], points[2 * i + 1] - at[1]) < 0.2f;
                hits[mode] += hit, near += hit;
            }
    }
    for (int mode = 0; mode < MODES; mode++)
        found += hits[mode] >= N * DRAWN / MODES / 4;
    printf("points within 4 deviations of a cluster %.1f %%\n", 100.0 * near / (N * DRAWN));
    printf("clusters found, of %d: %d\n", MODES, found);
}

int main(int argc, char **argv)
{
    example_options o = {.data = "nothing", .epochs = 60, .batch = N, .seed = 1, .learning_rate = 1e-3f};
    options_parse(&o, argc, argv);
    mw_error err = {0};
    uint64_t state = o.seed + 1;
    static float real[2 * N];
    mw_trainer *d = player(&o, false, NULL, &err), *g = player(&o, true, d, &err);
    mw_program *program = painter(g, &o, &err);
    const mw_trainer_counters before = mw_trainer_get_info(d).counters, mine = mw_trainer_get_info(g).counters;
    for (int64_t i = 0; i < 100 * o.epochs && err.status == MW_OK; i++) {
        draw_real(real, &state);
        const mw_feed feed = {.name = "real", .dtype = MW_F32, .data = real, .count = 2 * (size_t)N};
        mw_trainer_step(d, &(mw_batch){.feeds = &feed, .feed_count = 1, .examples = N}, NULL, &err);
        mw_trainer_step(g, &(mw_batch){0}, NULL, &err);
    }
    const mw_trainer_counters after = mw_trainer_get_info(d).counters, ours = mw_trainer_get_info(g).counters;
    printf("%lld turns; state bytes that crossed to or from the host meanwhile: %llu\n", (long long)after.steps,
           (unsigned long long)(after.state_bytes_in - before.state_bytes_in + after.state_bytes_out +
                                ours.state_bytes_in - mine.state_bytes_in + ours.state_bytes_out));
    if (err.status == MW_OK)
        judge(program, &state, &err);
    mw_program_destroy(program);
    mw_trainer_destroy(d); /* in any order */
    mw_trainer_destroy(g);
    return options_exit_code(&err);
}
