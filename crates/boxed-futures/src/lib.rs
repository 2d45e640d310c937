//! Compiles the async methods that leave a crate in that crate.

use proc_macro::TokenStream;
use proc_macro2::Span;
use quote::{ToTokens as _, quote};
use syn::visit_mut::{self, VisitMut};
use syn::{
    FnArg, Ident, ImplItem, ImplItemFn, ItemImpl, Lifetime, ParenthesizedGenericArguments, Pat,
    ReceiverKind, ReturnType, Signature, Type, TypeReference, Visibility, parse_macro_input,
    parse_quote,
};

/// Makes each `pub async fn` of an `impl` block return a boxed future: one that is [`Send`], or,
/// with `#[boxed(local)]`, one that stays on its thread, as where a model is asked.
///
/// The caller pays an allocation for each call. What cannot be compiled here or is not awaited
/// elsewhere stays as it is: generic methods, and those that are `pub(crate)` or private.
///
/// All that a method borrows is borrowed for one lifetime, that of the future. An `async fn` has a
/// lifetime for each, which a box could only name with bounds, and under bounds the compiler
/// remembers nothing that it has proved for other methods: checking `refract-persistence` took four
/// times as long.
#[proc_macro_attribute]
pub fn boxed(options: TokenStream, block: TokenStream) -> TokenStream {
    let send = match options.to_string().as_str() {
        "" => quote!(::core::marker::Send+),
        "local" => quote!(),
        _ => return quote!(compile_error!("either #[boxed] or #[boxed(local)]");).into(),
    };
    let mut block = parse_macro_input!(block as ItemImpl);
    let declared = block.generics.lifetimes().next();
    let mut of_block = Borrowed {
        lifetime: declared.map_or_else(
            || Lifetime::new("'future", Span::call_site()),
            |declared| declared.lifetime.clone(),
        ),
        is_named: declared.is_some(),
    };
    let is_declared = of_block.is_named;
    of_block.visit_type_mut(&mut block.self_ty);
    let lifetime = &of_block.lifetime;
    if of_block.is_named && !is_declared {
        block.generics.params.insert(0, parse_quote!(#lifetime));
    }
    for item in &mut block.items {
        if let ImplItem::Fn(method) = item
            && method.sig.asyncness.is_some()
            && matches!(method.vis, Visibility::Public(_))
            && !is_generic(&method.sig)
        {
            return_box(method, of_block.clone(), &send);
        }
    }
    block.into_token_stream().into()
}

fn is_generic(method: &Signature) -> bool {
    let mut arguments = method.inputs.iter();
    method.generics.type_params().next().is_some()
        || arguments.any(|argument| {
            matches!(argument, FnArg::Typed(typed) if matches!(*typed.ty, Type::ImplTrait(_)))
        })
}

/// Makes an async method a plain one that returns the future of its body. `borrowed` is what its
/// block borrows.
fn return_box(method: &mut ImplItemFn, mut borrowed: Borrowed, send: &proc_macro2::TokenStream) {
    let signature = &mut method.sig;
    let lifetime = borrowed.lifetime.clone();
    if !borrowed.is_named {
        signature.generics.params.insert(0, parse_quote!(#lifetime));
    }
    for input in &mut signature.inputs {
        borrowed.visit_fn_arg_mut(input);
    }
    let mut output = match &signature.output {
        ReturnType::Default => parse_quote!(()),
        ReturnType::Type(_, output) => Type::clone(output),
    };
    borrowed.visit_type_mut(&mut output);
    signature.output = parse_quote! {
        -> ::core::pin::Pin<::std::boxed::Box<
            dyn ::core::future::Future<Output = #output> + #send #lifetime
        >>
    };
    signature.asyncness = None;
    // an argument that is only held is held until the future ends, as by an async function
    let held = signature.inputs.iter().filter_map(held_argument);
    let body = &method.block;
    method.block = parse_quote!({
        ::std::boxed::Box::pin(async move {
            #(let _ = &#held;)*
            #body
        })
    });
}

/// The name of an argument that is not read, which begins with `_`. As if the attribute had written
/// it, so that no lint reports its use.
fn held_argument(argument: &FnArg) -> Option<Ident> {
    let FnArg::Typed(argument) = argument else {
        return None;
    };
    let Pat::Ident(pattern) = &*argument.pat else {
        return None;
    };
    let name = pattern.ident.to_string();
    name.starts_with('_')
        .then(|| Ident::new(&name, Span::call_site()))
}

/// Names all that a block and its methods borrow with one lifetime.
#[derive(Clone)]
struct Borrowed {
    lifetime: Lifetime,
    /// Whether the block declares the lifetime or borrows for it.
    is_named: bool,
}

impl Borrowed {
    fn name(&mut self) -> Lifetime {
        self.is_named = true;
        self.lifetime.clone()
    }
}

impl VisitMut for Borrowed {
    fn visit_lifetime_mut(&mut self, lifetime: &mut Lifetime) {
        if lifetime.ident == "_" {
            *lifetime = self.name();
        }
    }

    fn visit_type_reference_mut(&mut self, reference: &mut TypeReference) {
        if reference.lifetime.is_none() {
            reference.lifetime = Some(self.name());
        }
        visit_mut::visit_type_reference_mut(self, reference);
    }

    fn visit_receiver_kind_mut(&mut self, receiver: &mut ReceiverKind) {
        if let ReceiverKind::Reference(_, lifetime @ None, _) = receiver {
            *lifetime = Some(self.name());
        }
        visit_mut::visit_receiver_kind_mut(self, receiver);
    }

    // a function that is passed chooses its own lifetimes
    fn visit_parenthesized_generic_arguments_mut(&mut self, _: &mut ParenthesizedGenericArguments) {
    }
}
