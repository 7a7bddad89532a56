//! What kernels and operators are for: convolution, GEMM, copies. The rules are data, in
//! `assets/categories.txt`, and the user's own come first.

use serde::Serialize;

use super::kernel_name::KernelName;
use powerband_core::domain::profile::Total;
use powerband_core::domain::trace::SliceKind;
use powerband_core::domain::trace_operators::LAUNCHED_IN;

/// The rules that are built in.
const BUILT_IN: &str = include_str!("../../../../assets/categories.txt");

/// The purpose of a kernel or operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Category {
    /// Convolutions, with what prepares and finishes them.
    Convolution,
    /// Products of matrices.
    Gemm,
    /// Attention in one kernel.
    Attention,
    /// Batch normalisation.
    BatchNorm,
    /// Normalisation over layers, groups or instances.
    Norm,
    /// Activations and other elementwise operations.
    Elementwise,
    /// Pooling.
    Pooling,
    /// Memory copied or set.
    Copies,
    /// Sums, means, extremes and scans.
    Reduction,
    /// Softmax.
    Softmax,
    /// Devices talking to each other.
    Collective,
    /// Steps of an optimiser.
    Optimiser,
    /// Embeddings, gathering, scattering, indexing and sorting.
    Gather,
    /// The same numbers in another order: transposes, reformats, concatenations.
    Layout,
    /// Anything else.
    Other,
}

impl Category {
    pub const ALL: [Self; 15] = [
        Self::Convolution,
        Self::Gemm,
        Self::Attention,
        Self::BatchNorm,
        Self::Norm,
        Self::Elementwise,
        Self::Pooling,
        Self::Copies,
        Self::Reduction,
        Self::Softmax,
        Self::Collective,
        Self::Optimiser,
        Self::Gather,
        Self::Layout,
        Self::Other,
    ];

    /// Title for display.
    pub fn title(self) -> &'static str {
        match self {
            Self::Convolution => "convolution",
            Self::Gemm => "GEMM",
            Self::Attention => "attention",
            Self::BatchNorm => "batch normalisation",
            Self::Norm => "other normalisation",
            Self::Elementwise => "activation and elementwise",
            Self::Pooling => "pooling",
            Self::Copies => "copies",
            Self::Reduction => "reduction",
            Self::Softmax => "softmax",
            Self::Collective => "collective",
            Self::Optimiser => "optimiser",
            Self::Gather => "embedding, gather, sort",
            Self::Layout => "layout and transpose",
            Self::Other => "other",
        }
    }

    /// Stable identifier in rules and settings.
    pub fn id(self) -> &'static str {
        match self {
            Self::Convolution => "convolution",
            Self::Gemm => "gemm",
            Self::Attention => "attention",
            Self::BatchNorm => "batch-norm",
            Self::Norm => "norm",
            Self::Elementwise => "elementwise",
            Self::Pooling => "pooling",
            Self::Copies => "copies",
            Self::Reduction => "reduction",
            Self::Softmax => "softmax",
            Self::Collective => "collective",
            Self::Optimiser => "optimiser",
            Self::Gather => "gather",
            Self::Layout => "layout",
            Self::Other => "other",
        }
    }

    /// The category that an identifier or a title means.
    pub fn parse(word: &str) -> Option<Self> {
        let word = word.trim();
        Self::ALL.into_iter().find(|category| {
            category.id().eq_ignore_ascii_case(word) || category.title().eq_ignore_ascii_case(word)
        })
    }
}

/// Rules, the first that matches winning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rules {
    own: Vec<Rule>,
    operators: Vec<Rule>,
    kernels: Vec<Rule>,
    /// Errors in the user's rules.
    pub errors: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Rule {
    category: Category,
    pattern: Pattern,
}

impl Default for Rules {
    fn default() -> Self {
        Self::with_user_rules(&[])
    }
}

impl Rules {
    /// The built-in rules behind the user's, which are categories and patterns.
    pub fn with_user_rules(own: &[(String, String)]) -> Self {
        let mut rules = Self {
            own: Vec::new(),
            operators: Vec::new(),
            kernels: Vec::new(),
            errors: Vec::new(),
        };
        for (category, pattern) in own {
            match rule(category, pattern) {
                Ok(rule) => rules.own.push(rule),
                Err(objection) => rules.errors.push(objection),
            }
        }
        let mut of_kernels = false;
        for line in BUILT_IN.lines().map(str::trim) {
            match line {
                "" => {}
                "[operators]" => of_kernels = false,
                "[kernels]" => of_kernels = true,
                _ if line.starts_with('#') => {}
                _ => rules.add_line(line, of_kernels),
            }
        }
        rules
    }

    fn add_line(&mut self, line: &str, of_kernels: bool) {
        let Some((category, patterns)) = line.split_once(':') else {
            return self.errors.push(format!("no category in: {line}"));
        };
        for pattern in patterns.split(',') {
            match rule(category, pattern) {
                Ok(rule) if of_kernels => self.kernels.push(rule),
                Ok(rule) => self.operators.push(rule),
                Err(objection) => self.errors.push(objection),
            }
        }
    }

    /// The category of an entry of a profile.
    pub fn categorise(&self, total: &Total) -> Category {
        if matches!(total.kind, SliceKind::Copy | SliceKind::Set) {
            return Category::Copies;
        }
        if total.kind == SliceKind::Operator && total.op.is_empty() {
            return self.category_of_names(&total.name, "");
        }
        self.category_of_names(&total.op, &total.name)
    }

    /// What a kernel is for that carries out an operator; either may be empty.
    pub(crate) fn category_of_names(&self, op: &str, kernel: &str) -> Category {
        let op = SplitName::new(op);
        let name = KernelName::parse(kernel);
        let inner = name.inner.as_deref().map(SplitName::new);
        let base = SplitName::new(&name.base);
        let whole = SplitName::new(kernel);
        let subjects = [Some(&op), inner.as_ref(), Some(&base), Some(&whole)];
        let own = self.own.iter().find(|rule| {
            let mut subjects = subjects.into_iter().flatten();
            subjects.any(|subject| rule.pattern.is_in(subject))
        });
        let found = own.map(|rule| rule.category);
        let is_operator = !op.text.starts_with(LAUNCHED_IN);
        found
            .or_else(|| first(&self.operators, &op).filter(|_| is_operator))
            .or_else(|| inner.as_ref().and_then(|inner| first(&self.kernels, inner)))
            .or_else(|| first(&self.kernels, &base))
            .or_else(|| first(&self.operators, &base))
            .unwrap_or(Category::Other)
    }
}

fn first(rules: &[Rule], subject: &SplitName) -> Option<Category> {
    if subject.letters.is_empty() {
        return None;
    }
    let found = rules.iter().find(|rule| rule.pattern.is_in(subject));
    found.map(|rule| rule.category)
}

fn rule(category: &str, pattern: &str) -> Result<Rule, String> {
    let found = Category::parse(category).ok_or_else(|| {
        let known: Vec<&str> = Category::ALL.iter().map(|category| category.id()).collect();
        format!(
            "there is no category {}; there are {}",
            category.trim(),
            known.join(", ")
        )
    })?;
    let pattern = Pattern::parse(pattern)
        .ok_or_else(|| format!("the pattern for {} is empty", found.title()))?;
    Ok(Rule {
        category: found,
        pattern,
    })
}

/// The pattern that a rule matches names against.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Pattern {
    /// Whole words, as letters and digits alone.
    Words(String),
    /// The whole text, with stars for anything, in small letters.
    Whole(Vec<String>),
}

impl Pattern {
    fn parse(text: &str) -> Option<Self> {
        let text = text.trim().to_lowercase();
        if text.contains('*') {
            let is_all = text.chars().all(|c| c == '*');
            return (!is_all).then(|| Self::Whole(text.split('*').map(str::to_owned).collect()));
        }
        let letters: String = text.chars().filter(|c| c.is_alphanumeric()).collect();
        (!letters.is_empty()).then_some(Self::Words(letters))
    }

    fn is_in(&self, subject: &SplitName) -> bool {
        match self {
            Self::Words(words) => subject.has_words(words),
            Self::Whole(parts) => {
                glob(parts, &subject.text)
                    || subject
                        .text
                        .rsplit_once("::")
                        .is_some_and(|(_, last)| glob(parts, last))
            }
        }
    }
}

/// Whether a text consists of the parts in their order with anything between them.
fn glob(parts: &[String], text: &str) -> bool {
    let [first, middle @ .., last] = parts else {
        return false;
    };
    let Some(rest) = text.strip_prefix(first.as_str()) else {
        return false;
    };
    let mut rest = rest;
    for part in middle {
        match rest.find(part.as_str()) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.ends_with(last.as_str())
}

/// Whether words, with stars for anything, are somewhere in a text, whatever their case: what people type
/// into a filter. Every word has to be there.
pub fn has_all_words(text: &str, words: &str) -> bool {
    let text = text.to_lowercase();
    words
        .split_whitespace()
        .all(|word| matches_pattern(&text, &format!("*{}*", word.to_lowercase())))
}

/// Whether a text is what a pattern says, in which each star stands for anything.
pub fn matches_pattern(text: &str, pattern: &str) -> bool {
    let parts: Vec<String> = pattern.split('*').map(str::to_owned).collect();
    glob(&parts, text)
}

/// A name with the places at which words begin or end.
struct SplitName {
    text: String,
    letters: String,
    /// Offsets in `letters`.
    edges: Vec<usize>,
}

impl SplitName {
    fn new(name: &str) -> Self {
        let mut letters = String::with_capacity(name.len());
        let mut edges = vec![0];
        let chars: Vec<char> = name.chars().collect();
        for (place, &c) in chars.iter().enumerate() {
            let before = place.checked_sub(1).and_then(|at| chars.get(at)).copied();
            let after = chars.get(place + 1).copied();
            if before.is_some_and(|before| is_edge(before, c, after)) {
                edges.push(letters.len());
            }
            if c.is_alphanumeric() {
                letters.extend(c.to_lowercase());
            }
        }
        edges.push(letters.len());
        edges.dedup();
        Self {
            text: name.to_lowercase(),
            letters,
            edges,
        }
    }

    fn has_words(&self, words: &str) -> bool {
        let is_edge = |at: usize| self.edges.binary_search(&at).is_ok();
        let mut places = self.letters.match_indices(words).map(|(at, _)| at);
        places.any(|at| is_edge(at) && is_edge(at + words.len()))
    }
}

/// Whether a word ends before `c`.
fn is_edge(before: char, c: char, after: Option<char>) -> bool {
    let kind = |c: char| (c.is_alphabetic(), c.is_numeric());
    if kind(before) != kind(c) {
        return true;
    }
    // `poolForward` and `QLinearConv`.
    c.is_uppercase() && (before.is_lowercase() || after.is_some_and(char::is_lowercase))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kernel_category(kernel: &str) -> Category {
        Rules::default().category_of_names("", kernel)
    }

    fn operator_category(op: &str) -> Category {
        Rules::default().category_of_names(op, "something unheard of")
    }

    #[test]
    fn the_built_in_rules_make_sense() {
        let rules = Rules::default();
        assert_eq!(rules.errors, Vec::<String>::new());
        for category in Category::ALL {
            let has = |rules: &[Rule]| rules.iter().any(|rule| rule.category == category);
            let is_other = category == Category::Other;
            assert!(has(&rules.operators) != is_other && has(&rules.kernels) != is_other);
            assert_eq!(Category::parse(category.title()), Some(category));
        }
    }

    #[test]
    fn words_are_whole_words() {
        let has = |pattern: &str, name: &str| {
            let pattern = Pattern::parse(pattern).unwrap();
            pattern.is_in(&SplitName::new(name))
        };
        for (pattern, name) in [
            ("conv", "aten::conv2d"),
            ("conv", "QLinearConv"),
            ("batch_norm", "BatchNormalization_batch_norm"),
            ("batch_norm", "miopen::batchNorm"),
            ("relu", "ReLU"),
            ("relu", "Conv_0 + Relu_1"),
            ("lamb", "lamb_step"),
            ("mm", "aten::mm"),
            ("copy*to*", "CopyHostToDevice"),
            ("pool", "ns::f_pool"),
            ("f_*", "ns::f_pool"),
        ] {
            assert!(has(pattern, name), "{pattern} in {name}");
        }
        for (pattern, name) in [
            ("conv", "convert_unary"),
            ("conv", "f_typeConvert"),
            ("lamb", "lambda"),
            ("scan", "cannot_scandal"),
            ("cat", "concatenate"),
            ("norm", "normal_and_transform"),
            ("sum", "consumer"),
            ("mm", "addmm"),
            ("f_*", "ns::g_pool"),
        ] {
            assert!(!has(pattern, name), "{pattern} in {name}");
        }
        for nothing in ["", " ", "*", "**", "::"] {
            assert_eq!(Pattern::parse(nothing), None);
        }
    }

    #[test]
    fn traps_of_plain_substrings_are_seen_through() {
        for (kernel, category) in [
            (
                "void at::native::elementwise_kernel<128, 2, f(at::Tensor&)::{lambda(float)#1}>(int)",
                Category::Elementwise,
            ),
            (
                "void convert_unary<float, __half>(void const*)",
                Category::Elementwise,
            ),
            (
                "void vllm::_typeConvert<float>(void const*)",
                Category::Elementwise,
            ),
            (
                "sm80_xmma_fprop_implicit_gemm_tf32f32_relu_nhwc",
                Category::Convolution,
            ),
            (
                "void implicit_convolve_sgemm<float, float, 1024>(int)",
                Category::Convolution,
            ),
            ("void gemm_batched_relu<float>(int)", Category::Gemm),
            (
                "void at::native::vectorized_elementwise_kernel<4, at::native::bfloat16_copy_kernel_cuda(at::TensorIteratorBase&)::{lambda(float)#1}, std::array<char*, 2ul> >(int)",
                Category::Elementwise,
            ),
            (
                "void cublasLt::splitKreduce_kernel<32, 16, int>(int)",
                Category::Gemm,
            ),
            (
                "void at::native::(anonymous namespace)::distribution_elementwise_grid_stride_kernel<float, 4, at::native::templates::cuda::normal_and_transform<float>()>(int)",
                Category::Elementwise,
            ),
            (
                "void fft2d_r2c_32x32<float, false, 5u, true>(float2*, cudnn::reduced_divisor)",
                Category::Convolution,
            ),
            ("Cijk_Alik_Bljk_SB_MT64x16x32_MI16", Category::Gemm),
            (
                "_ZN7ck_tile6kentryINS_13FmhaFwdKernelIfEEEEvT_",
                Category::Attention,
            ),
            (
                "void rms_norm_f32<1024, true>(float const*)",
                Category::Norm,
            ),
            ("__amd_rocclr_fillBufferAligned.kd", Category::Copies),
            ("mscclKernel_Sum_half_LL_false", Category::Collective),
            ("triton_poi_fused_convolution_relu_0", Category::Elementwise),
            ("triton_red_fused_add_1", Category::Reduction),
            ("triton_poi_fused_convert_2", Category::Elementwise),
            (
                "Reformatting CopyNode for Input Tensor 0 to Conv_0 + Relu_1",
                Category::Layout,
            ),
            ("never heard of it", Category::Other),
            ("", Category::Other),
        ] {
            assert_eq!(kernel_category(kernel), category, "{kernel}");
        }
    }

    #[test]
    fn operators_of_every_runtime_have_a_category() {
        for (category, ops) in [
            (
                Category::Convolution,
                "Conv FusedConv QLinearConv ConvTranspose ConvInteger NhwcFusedConv aten::cudnn_convolution aten::miopen_convolution aten::convolution_backward ConvolutionBackward0 CaskConvolution Convolution Deconvolution GroupConvolution gpu::convolution gpu::quant_convolution",
            ),
            (
                Category::Gemm,
                "Gemm MatMul FusedGemm FusedMatMul QLinearMatMul MatMulNBits aten::mm aten::addmm aten::bmm aten::linear MatrixMultiply gpu::gemm gpu::hipblaslt_op FullyConnected AddmmBackward0 LSTM",
            ),
            (
                Category::Attention,
                "Attention MultiHeadAttention GroupQueryAttention aten::_flash_attention_forward aten::_scaled_dot_product_efficient_attention",
            ),
            (
                Category::BatchNorm,
                "BatchNormalization aten::cudnn_batch_norm aten::miopen_batch_norm_backward NativeBatchNormBackward0",
            ),
            (
                Category::Norm,
                "LayerNormalization SkipLayerNormalization aten::native_layer_norm GroupNorm InstanceNormalization RMSNormalization LRN MVN",
            ),
            (
                Category::Elementwise,
                "Relu Add Mul Sigmoid Clip Cast aten::relu_ aten::clamp_min_ aten::add_ aten::threshold_backward PointWiseV2 ElementWise gpu::add_relu QuantizeLinear Subgraph Eltwise QLinearAdd",
            ),
            (
                Category::Pooling,
                "MaxPool GlobalAveragePool AveragePool aten::max_pool2d_with_indices CaskPooling gpu::pooling QLinearAveragePool",
            ),
            (
                Category::Softmax,
                "Softmax aten::_softmax LogSoftmax SoftMax gpu::softmax",
            ),
            (
                Category::Reduction,
                "ReduceMean ReduceSum Reduce aten::mean aten::sum ArgMax",
            ),
            (
                Category::Layout,
                "Transpose ReorderInput ReorderOutput Reorder Reformat Concat aten::cat Reshape Resize Shuffle Pad",
            ),
            (
                Category::Copies,
                "MemcpyFromHost MemcpyToHost aten::copy_ hip::hip_copy_literal hip::copy_to_gpu",
            ),
            (
                Category::Gather,
                "Gather Scatter aten::embedding aten::index_select TopK EmbeddingBackward0",
            ),
            (
                Category::Optimiser,
                "aten::_foreach_add_ Optimizer.step#SGD.step aten::_fused_adam_",
            ),
            (Category::Collective, "c10d::allreduce_ nccl:all_reduce"),
            (
                Category::Other,
                "aten::empty_strided aten::view Parameter check_context::migraphx::gpu::context",
            ),
        ] {
            for op in ops.split(' ') {
                assert_eq!(operator_category(op), category, "{op}");
            }
        }
        assert_eq!(
            kernel_category("gpu::code_object::mlir_convolution_add_relu"),
            Category::Convolution
        );
        assert_eq!(
            kernel_category("gpu::code_object::mlir_dot"),
            Category::Gemm
        );
        assert_eq!(
            kernel_category("Conv_5 + Add_6 + Relu_7"),
            Category::Convolution
        );
        assert_eq!(kernel_category("hip::hip_copy_literal"), Category::Copies);
    }

    #[test]
    fn operators_outrank_kernels_and_the_users_patterns_everything() {
        let rules = Rules::default();
        let of_both = |rules: &Rules| {
            rules.category_of_names("aten::cudnn_convolution", "volta_sgemm_128x64_nn")
        };
        assert_eq!(of_both(&rules), Category::Convolution);
        assert_eq!(kernel_category("volta_sgemm_128x64_nn"), Category::Gemm);
        // What a launch lies in is no operator.
        let in_range = rules.category_of_names("in attention", "volta_sgemm_128x64_nn");
        assert_eq!(in_range, Category::Gemm);
        let own = |category: &str, pattern: &str| {
            Rules::with_user_rules(&[(category.to_owned(), pattern.to_owned())])
        };
        assert_eq!(of_both(&own("gemm", "*sgemm*")), Category::Gemm);
        assert_eq!(of_both(&own("Other", "cudnn_convolution")), Category::Other);
        assert!(own("convolutions", "x").errors[0].contains("there is no category convolutions"));
        assert!(own("gemm", " ").errors[0].contains("is empty"));
    }

    #[test]
    fn filters_look_for_every_word() {
        assert!(has_all_words("void cudnn::wgrad_engine", "WGRAD void"));
        assert!(matches_pattern("rack2-a", "r*k*a") && !matches_pattern("rack2-a", "rack1-*"));
        assert!(has_all_words("void cudnn::wgrad_engine", "cud*eng"));
        assert!(!has_all_words("void cudnn::wgrad_engine", "wgrad dgrad"));
        assert!(has_all_words("anything", " "));
    }
}
