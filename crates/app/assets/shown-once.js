// A page that answers a form and must not be asked for twice: reloading it asks for the page of its
// address, and does not send the form again.

history.replaceState(null, "", location.href);
